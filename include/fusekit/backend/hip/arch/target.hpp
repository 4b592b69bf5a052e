// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <type_traits>

#include "fusekit/backend/hip/arch/tags.hpp"
#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip::arch {

namespace detail {

/// Member Type: the first of Tags that describes the architecture `number` of `maker`, or Any. Tags with is_specific
/// match only if `specific`.
template <Architecture::Maker maker, int number, bool specific, class Tags>
struct Nearest : std::type_identity<Any> {};
template <Architecture::Maker maker, int number, bool specific, class First, class... Rest>
struct Nearest<maker, number, specific, List<First, Rest...>>
    : std::conditional_t<describes<First>(Architecture(maker, number)) && (specific || !First::is_specific),
                         std::type_identity<First>, Nearest<maker, number, specific, List<Rest...>>> {};

}  // namespace detail

/// Tag of an architecture number of nvcc: 900 is compute capability 9.0. If `specific`, 900 gives Sm90a instead of
/// Sm90.
template <int number, bool specific = false>
using Sm = typename detail::Nearest<Architecture::Maker::nvidia, number / 10, specific, All>::type;

/// Tag of an AMD architecture number: 0x90a gives Gfx90a.
template <int number>
using Gfx = typename detail::Nearest<Architecture::Maker::amd, number, true, All>::type;

/// Target: tag for which this compiler pass generates code; in the host pass, the common base of all targets.
/// is_targeted<Tag>: true if the program is compiled for GPUs that Tag describes; identical in every pass. nvcc tells
/// every pass all targets, but does not distinguish sm_90 from sm_90a. HIP's clang tells the host pass no target, so
/// that only the vendor is known. On the CPU, kernels are compiled for an H200, or for the AMD target that is defined
/// with HIP_ON_CPU_AMD, or for the NVIDIA targets of __CUDA_ARCH_LIST__.
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

/// True if this pass generates code that only sm_90a GPUs run. On the CPU, devices of all kinds run the same code,
/// except in programs that define nvcc's macro.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
inline constexpr bool is_for_sm90a_alone = true;
#else
inline constexpr bool is_for_sm90a_alone = false;
#endif

/// True if nvcc compiles relocatable device code (-rdc=true). ptxas then ignores setmaxnreg, so that consumer warps
/// have the registers of an even division among all warps; identical in every pass.
#if defined(__CUDACC_RDC__)
inline constexpr bool is_relocatable = true;
#else
inline constexpr bool is_relocatable = false;
#endif

/// True if the target of this pass has the features of the tag Needed.
template <class Needed>
inline constexpr bool has = std::is_base_of_v<Needed, Target>;

}  // namespace fusekit::hip::arch
