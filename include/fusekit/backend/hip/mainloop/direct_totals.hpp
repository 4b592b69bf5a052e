// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/mainloop/direct.hpp"
#include "fusekit/backend/hip/statistics/tile_totals.hpp"
#include "fusekit/backend/hip/thread_coord.hpp"

namespace fusekit::hip {

/// DirectConv for plans with channel statistics: a CTA computes a tile of tile_m pixels x tile_n channels and the
/// statistics of each channel over the tile's pixels.
template <class Plan, class Schedule, Element T, detail::OutputElement U, detail::Axis fast>
class DirectTotals {
    /// number of threads per channel; each accumulates the statistics of an eighth of the tile's pixels
    static constexpr int parts = 8;
    using Epilogue = typename Plan::Epilogue;

public:
    static constexpr int tile_m = total_pixels, tile_n = 32;
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;
    using Totals = TileTotals<Plan, tile_n, parts, Schedule::threads>;
    using Params = ConvParams<Plan, T, U>;
    struct Shared {
        float values[tile_n][tile_m + 1];  // [channel][pixel]: the values that the statistics operator receives
        typename Totals::Shared totals;
    };

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        auto conv = params.problem();
        conv.enter(params.slabs, block);
        int const channels = static_cast<int>(params.y.layout.shape[1]);
        auto const columns = static_cast<unsigned>(detail::divide_up(channels, tile_n));
        unsigned const tile = block / columns, column = block % columns;
        int const first_m = static_cast<int>((tile - conv.first_tile) * tile_m),
                  first_k = static_cast<int>(column) * tile_n;
        auto const count_m = static_cast<unsigned>((min)(conv.gemm_m() - first_m, tile_m));
        auto const count_n = static_cast<unsigned>((min)(channels - first_k, tile_n));
        for (unsigned i = thread; i < tile_m * tile_n; i += threads) {
            unsigned const m = fast == detail::Axis::pixel ? i % tile_m : i / tile_n,
                           n = fast == detail::Axis::pixel ? i / tile_m : i % tile_n;
            if (m >= count_m || n >= count_n) continue;
            Pixel const at = conv.pixel(first_m + static_cast<int>(m));
            int const k = first_k + static_cast<int>(n);
            ThreadCoord const coord({at.n, k, at.p, at.q});
            auto const state = Epilogue::prepare(std::int64_t{k}, params.bound.epilogue);
            params.y(at.n, k, at.p, at.q) =
                U(Epilogue::apply(sum_of_window(params, at, k), coord, state, params.bound.epilogue,
                                  [&](float x) { shared.values[n][m] = x; }));
        }
        __syncthreads();
        for (unsigned i = thread; i < parts * tile_n; i += threads) {
            unsigned const part = i / tile_n, n = i % tile_n;
            typename Totals::Accumulator own;
            for (unsigned m = part; m < count_m; m += parts) own.add(shared.values[n][m]);
            shared.totals.parts[part][n].value() = own.total();
        }
        Totals::finalize(reload(params), shared.totals, parts, thread, tile, column, first_k, count_n);
    }
};

}  // namespace fusekit::hip
