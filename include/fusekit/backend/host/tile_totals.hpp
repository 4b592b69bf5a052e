// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/integer.hpp"
#include "fusekit/backend/host/vector.hpp"
#include "fusekit/plan/pairwise.hpp"
#include "fusekit/plan/statistics.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// Statistics of a plan with a Conv (ChannelStatistics): one total per channel and tile of `tile_pixels` pixels, in
/// GemmM order, in the caller's scratch. One thread totals a tile, and tiles are merged pairwise, so results are
/// bitwise identical for any number of threads.
template <class Epilogue>
struct TileTotals {
    template <detail::Axis axis>
    struct Accumulator {
        void add(Vector, int) {}
    };
};

template <class Epilogue>
    requires(Epilogue::collects)
class TileTotals<Epilogue> {
    using Collector = detail::Collector<Epilogue>;
    using Op = typename Collector::Op;
    using Totals = typename Op::template Total<Vector>;
    using Total = typename Op::template Total<float>;
    using View = detail::TileTotalsView<Total>;

public:
    /// Accumulates the values that a statistics operator receives. With channels along lanes, each lane totals one
    /// channel; with pixels along lanes, all lanes belong to one channel.
    template <detail::Axis axis>
    class Accumulator {
        static constexpr bool along_pixels = axis == detail::Axis::pixel;

    public:
        void add(Vector x, int used) {
            // regroups values into full vectors: the sum does not depend on how calls split them
            if constexpr (along_pixels) {
                store(waiting + count, x);
                count += used;
                if (count < lanes) return;
                x = load(waiting);
                store(waiting, load(waiting + lanes));
                count -= lanes;
            }
            accumulator.add(x);
            ++vectors;
        }

        auto total() const {
            Totals const all = accumulator.total(Vector{} + static_cast<float>(vectors));
            if constexpr (along_pixels) {
                typename Op::template Accumulator<float> rest{};
                for (int i = 0; i < count; ++i) rest.add(waiting[i]);
                return merge(merge_lanes<Total>(all), rest.total(static_cast<float>(count)));
            } else {
                return all;
            }
        }

    private:
        typename Op::template Accumulator<Vector> accumulator{};
        int vectors = 0, count = 0;
        float waiting[along_pixels ? 2 * lanes : 1] = {};
    };

    TileTotals(typename Epilogue::Args const& the_args, std::int64_t channels, std::int64_t pixels,
               std::int64_t tile_pixels)
        : args(Collector::args(the_args)),
          view{this->args.scratch.data, channels},
          tiles(detail::divide_up(pixels, tile_pixels)) {}

    /// Writes the total that tile `tile` has of channel k; in the second function, those of `used` channels from k on.
    void put(std::int64_t tile, std::int64_t k, Total const& total, int = 1) const { view.put(tile, k, total); }
    void put(std::int64_t tile, std::int64_t k, Totals const& totals, int used) const {
        for (int word = 0; word < View::words; ++word)
            store(view.at(tile, k, word), 1, used, reinterpret_cast<Vector const*>(&totals)[word]);
    }
    /// Merges `totals`, over some of a tile's pixels, into the tile's totals; `first`: the tile has no totals yet.
    void add(std::int64_t tile, bool first, std::int64_t k, Totals const& totals, int used) const {
        put(tile, k, first ? totals : merge(get(tile, k, used), totals), used);
    }

    /// Merges the totals of all tiles and writes the statistics of all channels. Precondition: all tiles have totals.
    void save(Device::RunContext& context) const {
        context.parallel_for(detail::divide_up(view.channels, lanes), [this](std::int64_t item, int) {
            std::int64_t const k = item * lanes;
            int const used = static_cast<int>((min)(lanes, view.channels - k));
            Totals const all = detail::pairwise(
                0, tiles, 1, [&](std::int64_t tile, std::int64_t) { return get(tile, k, used); }, detail::merged);
            for (int lane = 0; lane < used; ++lane) Op::save(of_lane<Total>(all, lane), {0, k + lane, 0, 0}, args);
        });
    }

private:
    typename Op::Args const& args;
    View view;
    std::int64_t tiles;

    Totals get(std::int64_t tile, std::int64_t k, int used) const {
        Totals totals;
        for (int word = 0; word < View::words; ++word)
            reinterpret_cast<Vector*>(&totals)[word] = load(view.at(tile, k, word), 1, used);
        return totals;
    }
};

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
