// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/integer.hpp"

namespace fusekit::hip {

/// Order of the indices of GemmK for filters with contiguous taps (KCRS). GemmK is divided into phases: in all k-tiles
/// of a phase, an index of the k-tile has the same tap, and the channels of consecutive k-tiles are `channels` apart. A
/// unit is the smallest number of channels whose taps are loaded as one sequence. If `packed`, each 16 bytes of a
/// k-tile's row are Packet consecutive taps of one unit. Otherwise the order has the tail taps of each unit (those that
/// do not fill 16 bytes): 16 bits from each of eight units, or for floats 32 bits from each of four. With `backwards`
/// (a TransposedConv), later taps read earlier columns of x.
template <auto Filter, bool backwards, int Packet, int TileK, bool is_packed>
struct TapOrder {
    static constexpr bool packed = is_packed;
    static constexpr int tile_k = TileK, packet = Packet, columns = Filter.size[Filter.rank - 1];
    static constexpr int taps = [] {
        int all = 1;
        for (int mode = 0; mode < Filter.rank; ++mode) all *= Filter.size[mode];
        return all;
    }();
    /// number of elements per load of tail taps: 16 bits, or one float
    static constexpr int pair = packet < 8 ? 1 : packet / 8;
    /// Number of channels whose taps are loaded as one sequence: as many as fill exactly 16 bytes, otherwise `pair`.
    static constexpr int unit = !backwards && packet % taps == 0 ? packet / taps : pair;
    static constexpr int in_packets = unit * taps / packet, tail_taps = unit * taps % packet / pair;
    static constexpr int phases = packed ? in_packets : tail_taps;
    /// number of channels from a k-tile to the next one with the same taps
    static constexpr int channels = tile_k / (packed ? packet : pair) * unit;

    /// Returns the column of x that tap `tap` reads, minus the column of the pixel of y that reads it, at column stride
    /// 1.
    FUSEKIT_H static constexpr int column(int tap) {
        int const moved = tap % columns * Filter.dilations[mode];
        return backwards ? Filter.pad_before[mode] - moved : moved - Filter.pad_before[mode];
    }
    /// Returns the largest number of padding columns that a quad (four consecutive pixels) reads at one tap, among the
    /// quads that also read columns inside x.
    FUSEKIT_H static constexpr int max_outside() {
        int most = 0;
        for (int tap = 0; tap < columns; ++tap)
            for (int outside : {-column(tap), column(tap) - more})
                if (outside < 4 && outside > most) most = outside;
        return most;
    }

    /// True if `all` channels, those of a channel group, are a multiple of `unit` or, if there are tail taps, of
    /// `packet`.
    FUSEKIT_H static constexpr bool fills_packets(std::int64_t all) {
        return all % (tail_taps > 0 ? packet : unit) == 0;
    }

    FUSEKIT_HD static constexpr int steps_of_phase(int all) {
        return static_cast<int>(detail::divide_up(static_cast<unsigned>(all), channels));
    }
    /// Returns the channel and tap of index k of a k-tile whose first channel is `first`, in phase `phase` (the k-tiles
    /// with the same taps). The channel may be past the last one.
    FUSEKIT_HD static constexpr KCoord coord(int phase, int first, unsigned k) {
        constexpr int count = packed ? packet : pair;
        auto const own = static_cast<int>(k);
        int const of_unit = (packed ? 0 : in_packets * packet) + phase * count + own % count, tap = of_unit % taps;
        return {first + own / count * unit + of_unit / taps, tap / columns, tap % columns};
    }

private:
    static constexpr int mode = Filter.rank - 1;
    static constexpr int window = (columns - 1) * Filter.dilations[mode],
                         padding = Filter.pad_before[mode] + Filter.pad_after[mode],
                         more = backwards ? padding - window : window - padding;  ///< columns of x minus columns of y
};

namespace detail {

template <class Plan>
consteval auto filter_in_type() {
    if constexpr (has_transposed_conv<Plan>) return Plan::Head::filter;
    else return Plan::Head::collapsed;
}

}  // namespace detail

/// The TapOrder of a plan whose Conv or TransposedConv has a filter in its type.
template <class Plan, Element T, int TileK, bool packed>
using TapOrderOf = TapOrder<detail::filter_in_type<Plan>(), has_transposed_conv<Plan>, 16 / static_cast<int>(sizeof(T)),
                            TileK, packed>;
/// The TapOrder of a plan, for code that uses only members that do not depend on TileK and `packed`.
template <class Plan, Element T>
using AnyTapOrder = TapOrderOf<Plan, T, 1, false>;

}  // namespace fusekit::hip
