// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/tuning/amd.hpp"
#include "fusekit/backend/hip/tuning/nvidia.hpp"

namespace fusekit::hip {

namespace detail {

/// Number of tags in the list Tags that are base classes of Tag, including Tag itself.
template <class Tag, class... Tags>
consteval int depth_among(List<Tags...>) {
    return (0 + ... + std::is_base_of_v<Tags, Tag>);
}

/// Index of the tuning table for Tag: among tables of its base classes, that of the most derived one; -1 if there is
/// none.
template <class Tag, class... Tunings>
FUSEKIT_H constexpr int nearest_tuning(List<Tunings...>) {
    int const depths[] = {std::is_base_of_v<typename Tunings::Architecture, Tag>
                              ? depth_among<typename Tunings::Architecture>(arch::All{})
                              : -1 ...};
    int best = -1;
    for (int i = 0; i < static_cast<int>(sizeof...(Tunings)); ++i)
        if (depths[i] >= 0 && (best < 0 || depths[i] > depths[best])) best = i;
    return best;
}

/// Type: list of those of Types for whose index i Keeps<i>::value is true.
template <template <int> class Keeps, int number, class... Types>
struct Kept {
    using Type = List<>;
};
template <template <int> class Keeps, int number, class First, class... Rest>
struct Kept<Keeps, number, First, Rest...> : Joined<std::conditional_t<Keeps<number>::value, List<First>, List<>>,
                                                    typename Kept<Keeps, number + 1, Rest...>::Type> {};

/// Type: list of the tuning tables for the architectures at which the program is targeted, for which IsTargeted<Tag> is
/// true. Kernels of other tables are not compiled.
template <template <class> class IsTargeted, class... Tunings>
struct CompiledFrom {
    template <class... Tags>
    static consteval bool is_nearest(int number, List<Tags...>) {
        return (false || ... || (IsTargeted<Tags>::value && nearest_tuning<Tags>(List<Tunings...>{}) == number));
    }
    template <int number>
    struct Keeps : std::bool_constant<is_nearest(number, arch::All{})> {};

    using Type = typename Kept<Keeps, 0, Tunings...>::Type;
};

template <class Tag>
struct IsTargeted : std::bool_constant<arch::is_targeted<Tag>> {};

}  // namespace detail

/// List of the tuning tables whose kernels this program contains.
using CompiledTunings = typename detail::CompiledFrom<detail::IsTargeted, AmdTuning, NvidiaTuning>::Type;

/// Calls f(Tuning{}) with the compiled table for an architecture (nearest_tuning()); with the first table if there is
/// none.
template <class... Tunings, class F>
FUSEKIT_H auto with_tuning(List<Tunings...> tunings, [[maybe_unused]] Architecture architecture, F f) {
    int nearest = 0;
    if constexpr (sizeof...(Tunings) > 1)
        nearest = with_tag(architecture, [&]<class Tag>(Tag) { return detail::nearest_tuning<Tag>(tunings); });
    return with_entry(tunings, nearest, f);
}
template <class F>
FUSEKIT_H auto with_tuning(Architecture architecture, F f) {
    return with_tuning(CompiledTunings{}, architecture, f);
}

}  // namespace fusekit::hip
