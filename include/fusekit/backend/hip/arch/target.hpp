// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <type_traits>

#include "fusekit/backend/hip/arch/tags.hpp"
#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip::arch {

/// The tag of a number as nvcc counts: 900 is compute capability 9.0.
template <int number>
using Sm = std::conditional_t<
    nearest_sm(number / 10) == 90, Sm90,
    std::conditional_t<nearest_sm(number / 10) == 89, Sm89,
                       std::conditional_t<nearest_sm(number / 10) == 86, Sm86,
                                          std::conditional_t<nearest_sm(number / 10) == 80, Sm80, Sm75>>>>;

/// Target is what this pass of the compiler makes code for; in a pass for the host, what all targets have in common.
/// is_targeted<Tag> says whether the program is compiled for GPUs that a tag describes, alike in every pass. nvcc tells
/// every pass all targets, but not whether 9.0 is sm_90 or sm_90a; HIP's clang tells the host's pass none, so it knows
/// the maker only. On the CPU, kernels are compiled as for an H200, or as for the target of AMD's that is defined
/// beside HIP_ON_CPU_AMD.
#if defined(__HIP_PLATFORM_AMD__) || defined(HIP_ON_CPU_AMD)
#if defined(__gfx950__)
using Target = Gfx950;
#elif defined(__gfx942__) || defined(__gfx941__) || defined(__gfx940__)
using Target = Gfx942;
#elif defined(__gfx90a__)
using Target = Gfx90a;
#elif defined(__gfx908__)
using Target = Gfx908;
#elif defined(__gfx1030__) || defined(__gfx1031__) || defined(__gfx1032__) || defined(__gfx1033__) || \
    defined(__gfx1034__) || defined(__gfx1035__) || defined(__gfx1036__)
using Target = Gfx1030;
#elif defined(__GFX11__)
using Target = Gfx11;
#elif defined(__GFX12__)
using Target = Gfx12;
#else
using Target = Amd;
#endif
template <class Tag>
inline constexpr bool is_targeted = std::is_base_of_v<Amd, Tag>;
#elif defined(__CUDA_ARCH_LIST__)
constexpr int lowest_listed() {
    int lowest = 10000;
    for (int const number : {__CUDA_ARCH_LIST__})
        if (number < lowest) lowest = number;
    return lowest;
}
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
using Target = Sm90a;
#elif defined(__CUDA_ARCH__)
using Target = Sm<__CUDA_ARCH__>;
#else
using Target = Sm<lowest_listed()>;
#endif
constexpr bool lists(int sm) {
    for (int const number : {__CUDA_ARCH_LIST__})
        if (nearest_sm(number / 10) == sm) return true;
    return false;
}
template <class Tag>
inline constexpr bool is_targeted = false;
template <std::derived_from<Nvidia> Tag>
inline constexpr bool is_targeted<Tag> = lists(Tag::number);
#else
using Target = Sm90a;
template <class Tag>
inline constexpr bool is_targeted = std::is_same_v<Tag, Sm90a>;
#endif

/// Whether this pass makes code that only sm_90a's GPUs run. On the CPU all kinds of devices run the same code.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
inline constexpr bool is_for_sm90a_alone = true;
#else
inline constexpr bool is_for_sm90a_alone = false;
#endif

/// Whether code that needs what a tag describes is compiled in this pass.
template <class Needed>
inline constexpr bool has = std::is_base_of_v<Needed, Target>;

}  // namespace fusekit::hip::arch
