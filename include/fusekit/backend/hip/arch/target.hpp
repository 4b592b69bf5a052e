// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <type_traits>

#include "fusekit/backend/hip/arch/tags.hpp"
#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip::arch {

namespace detail {

/// The first of Tags that describes an architecture, among those that are `specific` only where that is true.
template <Architecture::Maker maker, int number, bool specific, class Tags>
struct Nearest : std::type_identity<Any> {};
template <Architecture::Maker maker, int number, bool specific, class First, class... Rest>
struct Nearest<maker, number, specific, List<First, Rest...>>
    : std::conditional_t<describes<First>(Architecture(maker, number)) && (specific || !First::is_specific),
                         std::type_identity<First>, Nearest<maker, number, specific, List<Rest...>>> {};

}  // namespace detail

/// The tag of a number as nvcc counts: 900 is compute capability 9.0; where `specific`, of code for sm_90a.
template <int number, bool specific = false>
using Sm = typename detail::Nearest<Architecture::Maker::nvidia, number / 10, specific, All>::type;

/// The tag of a number as AMD counts: 0x90a is gfx90a.
template <int number>
using Gfx = typename detail::Nearest<Architecture::Maker::amd, number, true, All>::type;

/// Target is what this pass of the compiler makes code for; in a pass for the host, what all targets have in common.
/// is_targeted<Tag> says whether the program is compiled for GPUs that a tag describes, alike in every pass. nvcc tells
/// every pass all targets, but not whether 9.0 is sm_90 or sm_90a; HIP's clang tells the host's pass none, so it knows
/// the maker only. On the CPU, kernels are compiled as for an H200, or as for the target of AMD's that is defined
/// beside HIP_ON_CPU_AMD.
#if defined(__HIP_PLATFORM_AMD__) || defined(HIP_ON_CPU_AMD)
#if defined(__amdgcn_processor__)
using Target = Gfx<Architecture::gfx(__amdgcn_processor__).number()>;
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
#if defined(__CUDA_ARCH_SPECIFIC__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
using Target = Sm<__CUDA_ARCH__, true>;
#elif defined(__CUDA_ARCH__)
using Target = Sm<__CUDA_ARCH__>;
#else
using Target = Sm<lowest_listed()>;
#endif
template <int... numbers>
constexpr bool lists(int first) {
    return (false || ... || (Sm<numbers>::numbers.first == first));
}
template <class Tag>
inline constexpr bool is_targeted = false;
template <std::derived_from<Nvidia> Tag>
inline constexpr bool is_targeted<Tag> = lists<__CUDA_ARCH_LIST__>(Tag::numbers.first);
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
