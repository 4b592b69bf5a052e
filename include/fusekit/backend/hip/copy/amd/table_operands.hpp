// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/collective/tile_coord.hpp"
#include "fusekit/backend/hip/conv_phases.hpp"
#include "fusekit/backend/hip/copy/amd/buffer_loads.hpp"

namespace fusekit::hip {

/// Base of the operand loaders ChannelOperands and QuadOperands, which load x and w at offsets from an LDS table. The
/// table covers `Table` indices of GemmK, with one entry for every `Packet` indices. Precondition: a tile reads within
/// 2^30 bytes of its first element.
template <class Plan, class Atom, Element T, detail::OutputElement U, class Inputs, class Weights, class TheShared,
          int Table, int Packet = 1>
class TableOperands {
protected:
    static constexpr int tile_k = Atom::tile_k, table_steps = Table / tile_k;
    static constexpr bool padded = Plan::Head::may_be_padded;
    using Params = ConvParams<Plan, T, U>;
    using Problem = ProblemOfTile<Plan, decltype(std::declval<Params const&>().problem())>;

public:
    using Stage = typename Atom::Stage;
    using Shared = TheShared;
    using Step = int;  ///< index in the table of a k-tile's first index of GemmK

    __device__ TableOperands(Params const& the_params, Problem const& the_conv, Shared& the_shared, Pixel const* pixels,
                             TileCoord<Atom::tile_m, Atom::tile_n> const& at, unsigned the_thread)
        : params(the_params),
          conv(the_conv),
          offsets(the_shared),
          thread(the_thread),
          inputs(thread, [&](unsigned i) { return conv.template input_row<padded>(pixels[i], at.group); }),
          weights(thread, conv, at.first_n, at.group) {}

    __device__ static Step found(int in_table) { return in_table; }
    __device__ void finish(Step, Stage& stage) { store_operands(inputs, weights, stage); }

protected:
    Params const& params;
    Problem const& conv;
    Shared& offsets;
    unsigned thread;
    Inputs inputs;
    Weights weights;

    /// Fills the LDS table from the first index of k-tile `step` on: calls put(i, coordinate, offsets) for every
    /// Packet-th index i of the table, with the KCoord of this index of GemmK and its offsets in x and w. Synchronizes
    /// the CTA afterwards.
    template <class Put>
    __device__ void fill_table(int step, Put const& put) const {
        unsigned const first = opaque_per_block(static_cast<unsigned>(step)) * tile_k;
#pragma unroll 1
        for (unsigned i = thread; i < Table / Packet; i += Atom::threads) {
            KCoord const at = conv.k_coord(first + i * Packet, params.channels_fastest);
            put(i * Packet, at, conv.template k_offsets<padded>(at));
        }
        __syncthreads();
    }
};

}  // namespace fusekit::hip
