// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/integer.hpp"

namespace fusekit::hip {

/// Operand that the tiles of the two CTAs of a cluster have in common: each CTA loads half of its rows into both
/// (copy/tma_multicast.hpp). x: tiles of the same pixels; w: of the same channels.
enum class Multicast : std::uint8_t { none, x, w };

namespace detail {

/// Number of rows of tiles that a launch has for `rows` of y: two CTAs that have filters in common have consecutive
/// tiles along the pixels. The last tile may be past y.
FUSEKIT_HD constexpr std::int64_t launched_rows(std::int64_t rows, Multicast multicast) {
    return multicast == Multicast::w ? (rows + 1) / 2 * 2 : rows;
}

/// True if WarpSpecialized's general kernel has code for multicast.
FUSEKIT_H constexpr bool fits_multicast(int m, int n, bool ping_pong) { return m == 192 && n == 128 && !ping_pong; }

/// Product of `pixels` x `filters`, with `channels` channels of 16 bits per tap, in tiles of m x n on `processors` SMs.
struct MulticastCase {
    int m, n;
    std::int64_t pixels, filters, channels, taps;
    int processors;
    bool is_general;  ///< a launch without multicast selects the general kernel

    /// Returns the operand to multicast where TMA loads both operands of one group of channels into tiles that no CTAs
    /// divide. Rows of an odd number of 16-byte packets straddle the 32-byte sectors of L2: without multicast a k-tile
    /// of 192 x 128 takes 1,500 cycles, with it 990 (x) or 1,170 (w), with aligned rows 870 to 1,130
    /// (bench/results/h200/multicast.txt). Aligned rows gain as well, except in the plain kernel, where SMs are idle,
    /// and from filters of several taps in common.
    FUSEKIT_H constexpr Multicast operand() const {
        std::int64_t const columns = divide_up(filters, n), tiles = divide_up(pixels, m) * columns;
        bool const is_odd = channels % 16 != 0;
        if (pixels < m || filters < n || processors % 2 != 0) return Multicast::none;
        if (is_odd ? 2 * tiles < processors : !is_general || tiles < processors) return Multicast::none;
        if (columns % 2 == 0) return Multicast::x;
        std::int64_t const launched = launched_rows(divide_up(pixels, m), Multicast::w) * columns;
        bool const adds_round = divide_up(launched, processors) > divide_up(tiles, processors);
        return (is_odd || taps == 1) && !adds_round ? Multicast::w : Multicast::none;
    }
};

}  // namespace detail

}  // namespace fusekit::hip
