// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/collective/load_quads.hpp"
#include "fusekit/backend/hip/collective/near_words.hpp"
#include "fusekit/backend/hip/collective/output_tile.hpp"
#include "fusekit/backend/hip/conv_phases.hpp"

namespace fusekit::hip {

/// ChannelOperands where columns of windows are neighbours, which are loaded in quads of pixels.
template <class Plan, class Atom, Element T, detail::OutputElement U>
class QuadOperands {
    static constexpr int tile_m = Atom::tile_m, tile_n = Atom::tile_n, tile_k = Atom::tile_k, threads = Atom::threads;
    static constexpr bool padded = Plan::Head::may_be_padded;
    /// Indices of GemmK whose offsets are computed at once.
    static constexpr int table = tile_m >= 128 ? 128 : 64, table_steps = table / tile_k;
    using Weight = typename Plan::Head::template WeightElement<T>;
    using Params = ConvParams<Plan, T, U>;
    using Problem = ProblemOfTile<Plan, decltype(std::declval<Params const&>().problem())>;
    using Inputs = QuadsAlongRows<T, tile_m, tile_k, threads, padded>;
    using Weights = NearFilters<Weight, tile_n, tile_k, threads, !Plan::totals_tiles>;

public:
    using Stage = typename Atom::Stage;
    using Shared = QuadOffsets<T, Weight, table, Plan::Head::collapsed_space, padded>;

    __device__ QuadOperands(Params const& the_params, Problem const& the_conv, Shared& the_shared, Pixel const* pixels,
                            TileCoord<tile_m, tile_n> const& at, unsigned the_thread)
        : params(the_params),
          conv(the_conv),
          offsets(the_shared),
          thread(the_thread),
          inputs(thread, [&](unsigned i) { return conv.template input_row<padded>(pixels[i], at.group); }),
          weights(thread, conv, at.first_n, at.group) {
        if constexpr (padded) inputs.find_place(Plan::Head::collapsed_space, 0, conv.window_columns() - 1);
    }

    /// Where a step's offsets are.
    using Step = int;

    /// As LoadOperands'.
    __device__ int find(int step) const {
        fill_table(step);
        return table_steps;
    }
    __device__ static Step found(int place) { return place; }
    __device__ static int stride() { return tile_k; }
    static constexpr bool has_table = true;
    __device__ void start(Step step, Stage&) {
        inputs.load(offsets, step);
        weights.find(offsets, step);
        weights.load();
    }
    __device__ void finish(Step, Stage& stage) { store_operands(inputs, weights, stage); }

private:
    Params const& params;
    Problem const& conv;
    Shared& offsets;
    unsigned thread;
    Inputs inputs;
    Weights weights;

    __device__ void fill_table(int step) const {
        unsigned const first = opaque_per_block(static_cast<unsigned>(step)) * tile_k;
#pragma unroll 1
        for (unsigned i = thread; i < table; i += threads) {
            KCoord const at = conv.k_coord(first + i, params.channels_fastest);
            auto const place = conv.template k_offsets<padded>(at);
            offsets.put(i, place.x, place.w, at.s, conv);
        }
        __syncthreads();
    }
};

}  // namespace fusekit::hip
