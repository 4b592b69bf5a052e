// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/integer.hpp"

namespace fusekit::hip {

/// How GemmK is counted where the taps of a filter are neighbours in memory: tap by tap, so that an index has the same
/// tap in all steps of a phase, and channels go up by as many as a step has. A unit is one channel, or a few channels
/// whose taps are counted as one sequence. `together`, 16 bytes of a row of a step are Packet taps of one unit; of taps
/// that are left over, they are 16 bits from each of eight units, or, of floats, 32 from each of four. Taps of a
/// transposed filter move `backwards` over x.
template <auto Filter, bool backwards, int Packet, int TileK, bool are_together>
struct TapOrder {
    static constexpr bool together = are_together;
    static constexpr int tile_k = TileK, packet = Packet, columns = Filter.size[Filter.rank - 1];
    static constexpr int taps = [] {
        int all = 1;
        for (int mode = 0; mode < Filter.rank; ++mode) all *= Filter.size[mode];
        return all;
    }();
    static constexpr int pair = packet < 8 ? 1 : packet / 8;  ///< elements of 16 bits, or one of 32
    /// Channels of a unit: as many as fill 16 bytes with their taps, else as many as fill a pair.
    static constexpr int unit = !backwards && packet % taps == 0 ? packet / taps : pair;
    static constexpr int in_packets = unit * taps / packet, left_over = unit * taps % packet / pair;
    static constexpr int phases = together ? in_packets : left_over;
    static constexpr int channels = tile_k / (together ? packet : pair) * unit;  ///< of a step

    /// How many columns right of a pixel a tap is. Columns have stride 1.
    FUSEKIT_H static constexpr int column(int tap) {
        int const moved = tap % columns * Filter.dilations[mode];
        return backwards ? Filter.pad_before[mode] - moved : moved - Filter.pad_before[mode];
    }
    /// How many of a quad's columns are in padding at most, where not all are.
    FUSEKIT_H static constexpr int most_outside() {
        int most = 0;
        for (int tap = 0; tap < columns; ++tap)
            for (int outside : {-column(tap), column(tap) - more})
                if (outside < 4 && outside > most) most = outside;
        return most;
    }

    /// Whether each 16 bytes of so many channels exist or do not.
    FUSEKIT_H static constexpr bool suits(std::int64_t all) { return all % (left_over > 0 ? packet : unit) == 0; }

    FUSEKIT_HD static constexpr int steps_of_phase(int all) {
        return static_cast<int>(detail::divide_up(static_cast<unsigned>(all), channels));
    }
    /// The coordinate of index k of a step that has channels from `first` on. It may be one that does not exist.
    FUSEKIT_HD static constexpr KCoord coord(int phase, int first, unsigned k) {
        constexpr int count = together ? packet : pair;
        auto const own = static_cast<int>(k);
        int const of_unit = (together ? 0 : in_packets * packet) + phase * count + own % count, tap = of_unit % taps;
        return {first + own / count * unit + of_unit / taps, tap / columns, tap % columns};
    }

private:
    static constexpr int mode = Filter.rank - 1;
    static constexpr int window = (columns - 1) * Filter.dilations[mode],
                         padding = Filter.pad_before[mode] + Filter.pad_after[mode],
                         more = backwards ? padding - window : window - padding;  ///< columns of x than of y
};

namespace detail {

template <class Plan>
consteval auto filter_in_type() {
    if constexpr (has_transposed_conv<Plan>) return Plan::Head::filter;
    else return Plan::Head::collapsed;
}

}  // namespace detail

/// That of a plan whose head's type has its filter.
template <class Plan, Element T, int TileK, bool together>
using TapOrderOf = TapOrder<detail::filter_in_type<Plan>(), has_transposed_conv<Plan>, 16 / static_cast<int>(sizeof(T)),
                            TileK, together>;
/// What of it depends on no tile.
template <class Plan, Element T>
using AnyTapOrder = TapOrderOf<Plan, T, 1, false>;

}  // namespace fusekit::hip
