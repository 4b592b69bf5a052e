// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/epilogue/split_tile.hpp"
#include "fusekit/backend/hip/mainloop/implicit_gemm.hpp"

namespace fusekit::hip {

/// SMEM layout of a split-K GEMM's CTA: the stages, whose memory the exchange of accumulators and the output tile reuse
/// after the k-loop, the loader's tables, and the data of the output tile.
template <class Plan, class Atom, class Loader, class Accumulators, class Writer>
struct SplitShared {
    struct End {
        typename Accumulators::Buffer acc;
        typename Writer::Buffer out;
    };
    union {
        typename Atom::Stage stages[stages_of<Atom>];
        End end;
    };
    typename Loader::Shared loader;
    OutputTile<Plan, Atom::tile_m, Atom::tile_n> tile;
};

/// Types of a split-K GEMM that follow from its schedule: MMA atom, operand loader, exchange of accumulators, epilogue,
/// SMEM layout.
template <class Plan, class Schedule, Element T, detail::OutputElement U, detail::Axis fast>
struct SplitParts {
    using Atom = typename AtomOf<Schedule, T, PlanFactor<Plan, T>>::Type;
    using Loader = LoadOperands<Plan, Atom, T, U, fast>;
    using Accumulators = SplitTile<Atom, fast == detail::Axis::channel && !Plan::pools>;
    using Writer = DirectStore<Plan, Accumulators, fast>;
    using Storage = SplitShared<Plan, Atom, Loader, Accumulators, Writer>;
    using Shared = NamedShared<Storage, MatrixSchedule<Schedule>>;
};

/// ImplicitGemm with split-K, for problems with few output tiles per SM: several CTAs reduce one output tile. A CTA
/// reduces its range of k-tiles, and then runs the epilogue for some of the tile's rows. Ranges begin at multiples of
/// piece_k indices of GemmK, where the loader begins to fill its table of offsets.
template <class Plan, class Schedule, Element T, detail::OutputElement U, detail::Axis fast>
class SplitGemm : public SplitParts<Plan, Schedule, T, U, fast>::Shared {
    using Parts = SplitParts<Plan, Schedule, T, U, fast>;
    using Atom = typename Parts::Atom;
    using Accumulators = typename Parts::Accumulators;
    using Writer = typename Parts::Writer;
    using Storage = typename Parts::Storage;
    static constexpr int piece_k = Schedule::piece_k, piece_steps = piece_k / Atom::tile_k;

public:
    using Loader = typename Parts::Loader;
    static_assert(piece_k % Loader::table_k == 0 && piece_steps % stages_of<Atom> == 0 &&
                  Accumulators::floats == Schedule::tile_m * Schedule::tile_n);
    using Params = ConvParams<Plan, T, U>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = Atom::threads, blocks = Schedule::blocks;

    __device__ static void run(Params const& params, Storage& the_shared, unsigned the_thread, unsigned block) {
        Storage& shared = in_register(the_shared);
        unsigned const thread = in_register(the_thread), count = params.split_k.count;
        auto const conv = problem_of_tile<Plan, Atom::tile_m, Atom::tile_n>(params, block / count);
        TileCoord<Atom::tile_m, Atom::tile_n> const coord(conv, block / count);
        shared.tile.template prepare<threads>(conv, params.bound.epilogue, coord, thread);
        __syncthreads();

        Loader loader(params, conv, shared.loader, shared.tile.pixels, coord, thread);
        int const splits = static_cast<int>(count), split = static_cast<int>(block % count);
        int const pieces = static_cast<int>(detail::divide_up(conv.gemm_k(), piece_k));
        int const steps = static_cast<int>(detail::divide_up(conv.gemm_k(), Atom::tile_k));
        int const begin = pieces * split / splits * piece_steps, end = pieces * (split + 1) / splits * piece_steps;
        Atom const atom(thread);
        typename Atom::Fragment own = {};
        multiply_steps(atom, loader, shared, of_wave(begin), of_wave(end < steps ? end : steps), own);
        Accumulators const acc(reload(params).split_k, shared.end.acc, block, thread, atom, own);
        Writer::store(params, shared.end.out, shared.tile, coord, acc, {}, thread);
        acc.finish();
    }
};

}  // namespace fusekit::hip
