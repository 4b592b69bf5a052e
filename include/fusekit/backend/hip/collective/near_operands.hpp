// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/collective/load_quads.hpp"
#include "fusekit/backend/hip/collective/near_words.hpp"
#include "fusekit/backend/hip/collective/output_tile.hpp"
#include "fusekit/backend/hip/collective/transposed_filters.hpp"
#include "fusekit/backend/hip/conv_phases.hpp"

namespace fusekit::hip {

/// LoadOperands for AMD's processors, for tiles that read only what lies within 2^30 bytes of their first element. A
/// load brings several neighbours, at a 32-bit offset from where a row begins (Buffer): of x along channels, in packets
/// of 16 bytes, or along the columns of windows, in quads of pixels.
template <class Plan, class Atom, Element T, detail::OutputElement U, detail::Axis fast>
class NearOperands {
    static constexpr int tile_m = Atom::tile_m, tile_n = Atom::tile_n, tile_k = Atom::tile_k, threads = Atom::threads;
    static constexpr bool padded = Plan::Head::may_be_padded, has_quads = fast == detail::Axis::pixel;
    /// Indices of GemmK whose offsets are computed at once: packets of 16 bytes, or single ones.
    static constexpr int packet = has_quads ? 1 : 16 / static_cast<int>(sizeof(T)),
                         table = (has_quads && tile_m >= 128 ? 128 : 64) * packet, table_steps = table / tile_k;
    using Weight = typename Plan::Head::template WeightElement<T>;
    using Params = ConvParams<Plan, T, U>;
    using Problem = ProblemOfTile<Plan, decltype(std::declval<Params const&>().problem())>;
    using Offsets = std::conditional_t<has_quads, QuadOffsets<T, Weight, table, Plan::Head::collapsed_space, padded>,
                                       WordOffsets<T, Weight, table, !has_transposed_conv<Plan>>>;
    using Inputs = std::conditional_t<has_quads, QuadsAlongRows<T, tile_m, tile_k, threads, padded>,
                                      NearWords<T, tile_m, tile_k, threads, padded>>;
    using Weights = std::conditional_t<has_transposed_conv<Plan>,
                                       TransposedFilters<Weight, decltype(Atom::Stage::w), tile_n, tile_k, threads>,
                                       NearFilters<Weight, tile_n, tile_k, threads, !Plan::totals_tiles>>;

public:
    struct Shared {
        Offsets offsets;
    };

    __device__ NearOperands(Params const& the_params, Problem const& the_conv, Shared& the_shared, Pixel const* pixels,
                            TileCoord<tile_m, tile_n> const& at, unsigned the_thread)
        : params(the_params),
          conv(the_conv),
          shared(the_shared),
          thread(the_thread),
          inputs(thread, [&](unsigned i) { return conv.template input_row<padded>(pixels[i], at.group); }),
          weights(thread, conv, at.first_n, at.group) {
        if constexpr (has_quads && padded) inputs.find_place(Plan::Head::collapsed_space, 0, conv.window_columns() - 1);
    }

    using Stage = typename Atom::Stage;
    /// Where a step's offsets are.
    using Step = int;

    /// As LoadOperands'.
    __device__ int find(int step) const {
        fill_table(step);
        return table_steps;
    }
    __device__ static Step found(int i) { return i * tile_k; }
    __device__ void start(Step step, Stage&) {
        inputs.load(shared.offsets, step);
        weights.load(shared.offsets, step);
    }
    __device__ void finish(Step, Stage& stage) { store_operands(inputs, weights, stage); }

private:
    Params const& params;
    Problem const& conv;
    Shared& shared;
    unsigned thread;
    Inputs inputs;
    Weights weights;

    __device__ void fill_table(int step) const {
        unsigned const first = opaque_per_block(static_cast<unsigned>(step)) * tile_k;
#pragma unroll 1
        for (unsigned i = thread; i < table / packet; i += threads) {
            KCoord const at = conv.k_coord(first + i * packet, params.channels_fastest);
            auto const offsets = conv.template k_offsets<padded>(at);
            shared.offsets.put(i * packet, offsets.x, offsets.w, at.s, conv);
        }
        __syncthreads();
    }
};

}  // namespace fusekit::hip
