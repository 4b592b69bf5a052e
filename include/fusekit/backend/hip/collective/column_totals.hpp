// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/collective/grid_group.hpp"
#include "fusekit/backend/hip/collective/total_products.hpp"

namespace fusekit::hip {

/// Statistics of a column of tiles that blocks share, each of which has totalled its own tiles: the block that comes
/// last merges the totals of all, in a fixed order, so that every run gives the same numbers.
template <class Plan, class Atom, int warpgroups>
struct ColumnTotals {};

template <class Plan, class Atom, int warpgroups>
    requires(Plan::totals_tiles)
class ColumnTotals<Plan, Atom, warpgroups> {
    using Collector = detail::Collector<typename Plan::Epilogue>;
    using Op = typename Collector::Op;
    using Total = typename Op::template Total<float>;
    using View = detail::TileTotalsView<Total>;
    static constexpr unsigned threads = warpgroups * Atom::threads, channels = Atom::n, warps = threads / 32;
    static constexpr unsigned most_parts = threads > channels ? threads / channels : 1, together = 8;

public:
    struct Shared {
        Uninitialized<Total> parts[warps][channels];
        bool is_last;
    };

    /// Called by all threads of the warpgroups, whose barrier is `barrier`, with the totals of each, once it needs
    /// nothing else of what lies where `shared` does. There are `columns` columns, which blocks take in turn.
    template <class Params, class Problem, class Totals, class Barrier>
    __device__ static void finalize(Params const& params, Problem const& conv, Shared& shared, Totals const& totals,
                                    unsigned columns, unsigned thread, unsigned block, Barrier const& barrier) {
        auto const& args = Collector::args(params.bound.epilogue);
        View const view{args.scratch.data, params.y.layout.shape[1]};
        unsigned const column = block % columns, sharer = block / columns, sharers = gridDim.x / columns,
                       first_k = column * channels, left = static_cast<unsigned>(conv.group_k()) - first_k,
                       count = left < channels ? left : channels;
        totals.put(shared.parts[thread / 32], thread % Atom::threads, barrier);
        barrier();
        for (unsigned n = thread; n < count; n += threads) {
            Total const total = merge_parts(shared, warps, n);
            if (sharers == 1) Op::save(total, {0, std::int64_t{first_k} + n, 0, 0}, args);
            else view.put(sharer, first_k + n, total);
        }
        if (sharers == 1) return;
        GridGroup::State* const state = params.tile_groups.workspace.state(column);
        if (!is_last_block(&state->arrived, sharers, thread, shared.is_last, barrier)) return;
        if (thread == 0) state->arrived = 0;
        unsigned const needed = (sharers + together - 1) / together, parts = needed < most_parts ? needed : most_parts;
#pragma unroll 1
        for (unsigned i = thread; i < parts * channels; i += threads)
            if (unsigned const part = i / channels, n = i % channels; n < count)
                shared.parts[part][n].value() = merge_sharers(view, sharers, part, parts, first_k + n);
        barrier();
        for (unsigned n = thread; n < count; n += threads)
            Op::save(merge_parts(shared, parts, n), {0, std::int64_t{first_k} + n, 0, 0}, args);
    }

private:
    __device__ static Total merge_parts(Shared& shared, unsigned parts, unsigned n) {
        Total total = shared.parts[0][n].value();
#pragma unroll 4
        for (unsigned part = 1; part < parts; ++part) total = merge(total, shared.parts[part][n].value());
        return total;
    }

    /// Merges every `parts`th eight of the blocks' totals of a channel: eight in pairs, between a load and the next.
    __device__ static Total merge_sharers(View const& view, unsigned sharers, unsigned part, unsigned parts,
                                          unsigned k) {
        Total total{};
#pragma unroll 1
        for (unsigned first = part * together; first < sharers; first += parts * together) {
            unsigned const here = sharers - first < together ? sharers - first : together;
            Total totals[together];
#pragma unroll
            for (unsigned i = 0; i < together; ++i)
                if (i < here) totals[i] = view_total(view, first + i, k);
#pragma unroll
            for (unsigned apart = 1; apart < together; apart *= 2)
#pragma unroll
                for (unsigned i = 0; i + apart < together; i += 2 * apart)
                    if (i + apart < here) totals[i] = merge(totals[i], totals[i + apart]);
            total = first == part * together ? totals[0] : merge(total, totals[0]);
        }
        return total;
    }

    __device__ static Total view_total(View const& view, unsigned sharer, unsigned k) {
        Total total;
#pragma unroll
        for (int word = 0; word < View::words; ++word)
            reinterpret_cast<float*>(&total)[word] =
                load_fresh(reinterpret_cast<Packet<float, 1> const*>(view.at(sharer, k, word))).values[0];
        return total;
    }
};

}  // namespace fusekit::hip
