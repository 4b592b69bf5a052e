// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/epilogue/output_tile.hpp"
#include "fusekit/backend/hip/thread_coord.hpp"

namespace fusekit::hip {

/// Epilogue and store of an output tile for plans that pool: applies the epilogue to the accumulators and stores one
/// value per 2x2 pooling window. A window is four consecutive elements of a channel's row in the SMEM buffer; a thread
/// reduces whole windows. Consecutive threads have consecutive windows or, if channels are contiguous in y, consecutive
/// channels.
template <class Plan, class Atom, bool contiguous_channels>
class PoolStore {
    using Epilogue = typename Plan::Epilogue;
    using Tile = OutputTile<Plan, Atom::tile_m, Atom::tile_n>;
    using Transpose = TransposeTile<Atom, false>;
    static constexpr int rows = Transpose::rows, columns = Transpose::columns;

public:
    using Buffer = typename Transpose::Buffer;

    template <class Params>
    __device__ static void store(Params const& the_params, Buffer& buffer, Tile& tile,
                                 TileCoord<Atom::tile_m, Atom::tile_n> const& coord, Atom const& atom,
                                 typename Atom::Fragment const& fragment, unsigned thread) {
        Params const& params = reload(the_params);
        using Y = std::remove_pointer_t<decltype(params.y.data)>;
        Transpose::run(buffer, atom, fragment, [&](int round) {
#pragma unroll 1
            for (unsigned i = thread; i < rows * columns / 4; i += Atom::threads) {
                unsigned const row = contiguous_channels ? i % rows : i / (columns / 4);
                unsigned const window = contiguous_channels ? i / rows : i % (columns / 4);
                unsigned const n = Transpose::tile_row(row, round);
                Pixel const first = tile.pixels[4 * window];
                if (first.n < 0 || n >= coord.count_n) continue;
                auto const state = tile.state(n);
                std::int64_t const k = std::int64_t{coord.first_k} + n;
                detail::WindowTotal<typename Plan::Pool::Reduce> total;
#pragma unroll
                for (int pixel = 0; pixel < 4; ++pixel) {
                    ThreadCoord const at({first.n, k, first.p + pixel / 2, first.q + pixel % 2});
                    float const sum = buffer.at(row, window, static_cast<unsigned>(pixel));
                    total.add(Epilogue::apply(sum, at, state, params.bound.epilogue), pixel);
                }
                params.y(first.n, k, first.p / 2, first.q / 2) = Y(total.finish(4));
                if constexpr (Plan::Pool::writes_taps)
                    Plan::Pool::store_tap(detail::get<Epilogue::size - 1>(params.bound.epilogue),
                                          {{first.n, k, first.p / 2, first.q / 2}}, total.tap);
            }
        });
    }
};

}  // namespace fusekit::hip
