// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/collective/split_tile.hpp"
#include "fusekit/backend/hip/mainloop/implicit_gemm.hpp"

namespace fusekit::hip {

/// ImplicitGemm where a tile's GemmK is shared by several blocks, for products of fewer tiles than processors. A block
/// multiplies its part of the steps, and takes its part of the tile's rows through the epilogue to y. Parts begin where
/// the loader computes offsets.
template <class Plan, class Schedule, Element T, detail::OutputElement U, detail::Axis fast>
class SplitGemm {
    using Atom = typename AtomOf<Schedule, T>::Type;
    static constexpr bool rows_are_pixels = fast == detail::Axis::channel && !Plan::pools;
    using Sums = SplitTile<Atom, rows_are_pixels>;
    using Writer = StoreTile<Plan, Sums, fast>;
    static constexpr int piece_k = Schedule::piece_k, piece_steps = piece_k / Atom::tile_k;

public:
    using Loader = LoadOperands<Plan, Atom, T, U, fast>;
    static_assert(piece_k % Loader::table_k == 0 && Sums::floats == Schedule::part_floats);
    using Params = ConvParams<Plan, T, U>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = Atom::threads, blocks = Schedule::blocks;

    struct Shared {
        struct End {
            typename Sums::Buffer sums;
            typename Writer::Buffer out;
        };
        union {
            typename Atom::Stage stages[stages_of<Atom>];
            End end;
        };
        typename Loader::Shared loader;
        OutputTile<Plan, Atom::tile_m, Atom::tile_n> tile;
    };

    __device__ static void run(Params const& params, Shared& the_shared, unsigned the_thread, unsigned block) {
        Shared& shared = in_register(the_shared);
        unsigned const thread = in_register(the_thread), count = params.parts.count;
        auto const conv = params.problem();
        TileCoord<Atom::tile_m, Atom::tile_n> const coord(conv, block / count);
        shared.tile.template prepare<threads>(conv, params.bound.epilogue, coord, thread);
        __syncthreads();

        Loader loader(params, conv, shared.loader, shared.tile.pixels, coord, thread);
        int const parts = static_cast<int>(count), part = static_cast<int>(block % count);
        int const pieces = static_cast<int>(detail::divide_up(conv.gemm_k(), piece_k));
        int const steps = static_cast<int>(detail::divide_up(conv.gemm_k(), Atom::tile_k));
        int const begin = pieces * part / parts * piece_steps, end = pieces * (part + 1) / parts * piece_steps;
        Atom const atom(thread);
        typename Atom::Fragment own = {};
        multiply_steps(atom, loader, shared, of_wave(begin), of_wave(end < steps ? end : steps), own);
        Sums const sums(reload(params).parts, shared.end.sums, block, thread, atom, own);
        Writer::store(params, shared.end.out, shared.tile, coord, sums, {}, thread);
        sums.leave();
    }
};

}  // namespace fusekit::hip
