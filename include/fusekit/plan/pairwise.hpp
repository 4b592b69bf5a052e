// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/abi.hpp"

namespace fusekit::detail {

/// Block length of pairwise sums: number of values that are added sequentially before their total is merged with
/// others.
inline constexpr std::int64_t addends = 64;

/// Function object that merges two totals; a type, so that its call operator carries the compiler flags of its
/// namespace.
struct Merged {
    template <class A, class B>
    FUSEKIT_H constexpr auto operator()(A const& a, B const& b) const {
        return merge(a, b);
    }
};
inline constexpr Merged merged;

/// Pairwise summation over the index range [begin, end). leaf(begin, end) totals up to `block` values, and merge(a, b)
/// combines the totals of two halves of a range; the first half has `block` times a power of two values. Each value is
/// in O(log(count)) merges, so rounding errors grow as log(count) (Higham 2002, section 4.2). The order depends on the
/// number of values alone.
template <class Leaf, class Merge>
FUSEKIT_H constexpr auto pairwise(std::int64_t begin, std::int64_t end, std::int64_t block, Leaf const& leaf,
                                  Merge const& merge) {
    if (end - begin <= block) return leaf(begin, end);
    std::int64_t half = block;
    while (2 * half < end - begin) half *= 2;
    auto const first = pairwise(begin, begin + half, block, leaf, merge);
    return merge(first, pairwise(begin + half, end, block, leaf, merge));
}

/// Calls f(row, first, last) for each row that the range [begin, end) of a row-major matrix with `columns` columns
/// touches; [first, last) are the columns touched in that row.
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
