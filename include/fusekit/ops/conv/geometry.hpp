// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/ops/conv/window.hpp"
#include "fusekit/tensor/check.hpp"

/// Validity of a filter given as a template argument, and error texts for invalid filters.
namespace fusekit::detail {

consteval bool is_filter(auto) { return false; }
template <int Rank>
consteval bool is_filter(Filter<Rank>) {
    return true;
}
consteval bool is_geometry(auto geometry) { return is_filter(geometry); }
consteval bool is_geometry(Dynamic) { return true; }

consteval bool is_possible(auto) { return true; }
template <int Rank>
consteval bool is_possible(Filter<Rank> const& f) {
    for (int i = 0; i < Rank; ++i)
        if (f.size[i] < 1 || f.strides[i] < 1 || f.dilations[i] < 1 || f.pad_before[i] < 0 || f.pad_after[i] < 0)
            return false;
    if (Rank == 3 && std::int64_t{f.size[0]} * f.size[1] >= std::int64_t{1} << 31) return false;  // rows of all slices
    return f.group_count >= 1;
}

template <int Rank>
consteval int longest_of(Filter<Rank> const& f) {
    int longest = 0;
    for (int i = 0; i < Rank; ++i) longest = f.size[i] > longest ? f.size[i] : longest;
    return longest;
}

/// Stores an error in `in` if the group count does not divide C, the channels of x, or K, the number of filters.
template <int Rank, class Written>
FUSEKIT_H void check_groups(Filter<Rank> const& f, Index<4> const& weights, Written const& written, Check const& in) {
    std::int64_t const groups = f.group_count, c = in.x[1], k = weights[0];
    if (c % groups != 0) {
        in.fail("filter", "groups that divide C", written() + " with C = " + Text::number(c));
    } else if (k % groups != 0) {
        CollapsedShape<4> const one = filter_shape_of(f, in.x, groups);
        bool const exchanged = k == 1 && weights[1] == groups && c == groups;
        CollapsedShape<4> const given(weights, one.from);
        in.fail("weights",
                to_string(one) + " (K x C/groups x R x S), or another multiple of " + Text::number(groups) + " for K",
                to_string(given) + (exchanged ? ": write fk::transposed(weights, 0, 1)" : ""));
    }
}

inline constexpr char const* conv_least[] = {"an output of at least 1", "an output of at least 1 x 1",
                                             "an output of at least 1 x 1 x 1"};

}  // namespace fusekit::detail
