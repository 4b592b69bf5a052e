// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/abi.hpp"

namespace fusekit::detail {

/// Default block length of pairwise sums: number of values that are added one after another before sums are merged in
/// pairs.
inline constexpr std::int64_t addends = 64;

/// Function object that calls merge(a, b) for two totals. It is a type, so that the mangled name of its call operator
/// contains the compiler flags, as that of every function of the library (abi.hpp).
struct Merged {
    template <class A, class B>
    FUSEKIT_H constexpr auto operator()(A const& a, B const& b) const {
        return merge(a, b);
    }
};
inline constexpr Merged merged;

/// Pairwise summation over the indices begin ... end - 1. leaf(first, last) returns the total of the values first ...
/// last - 1, at most `block` of them, and merge(a, b) that of two adjacent ranges. A longer range is halved; its first
/// half has `block` times a power of two values. Each value is in O(log(count)) merges, so rounding errors grow as
/// log(count) (Higham 2002, section 4.2). The order depends on the number of values alone.
template <class Leaf, class Merge>
FUSEKIT_H constexpr auto pairwise(std::int64_t begin, std::int64_t end, std::int64_t block, Leaf const& leaf,
                                  Merge const& merge) {
    if (end - begin <= block) return leaf(begin, end);
    std::int64_t half = block;
    while (2 * half < end - begin) half *= 2;
    auto const first = pairwise(begin, begin + half, block, leaf, merge);
    return merge(first, pairwise(begin + half, end, block, leaf, merge));
}

/// Calls f(row, first, last) for each row of a row-major matrix with `columns` columns that has elements with index
/// begin ... end - 1; first ... last - 1 are the columns of these elements in the row.
template <class F>
FUSEKIT_H constexpr void each_row(std::int64_t begin, std::int64_t end, std::int64_t columns, F const& f) {
    std::int64_t row = begin / columns, first = begin % columns;
    for (; begin < end; ++row, first = 0) {
        std::int64_t const remaining = end - begin, last = columns - first < remaining ? columns : first + remaining;
        f(row, first, last);
        begin += last - first;
    }
}

}  // namespace fusekit::detail
