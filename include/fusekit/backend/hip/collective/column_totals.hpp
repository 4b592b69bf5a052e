// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/collective/grid_group.hpp"
#include "fusekit/backend/hip/collective/named_barrier.hpp"
#include "fusekit/backend/hip/collective/tile_totals.hpp"
#include "fusekit/ops/batch_norm/moments.hpp"

namespace fusekit::hip {

/// Merges totals one after another.
template <class Total>
struct TotalMerger {
    Total all;

    __device__ explicit TotalMerger(Total const& first) : all(first) {}
    __device__ void add(Total const& next) { all = merge(all, next); }
    __device__ Total total() const { return all; }
};
template <>
struct TotalMerger<fusekit::detail::Moments<float>> : fusekit::detail::MergedMoments<float> {
    using MergedMoments::MergedMoments;
};

/// Statistics of a column of tiles, which several blocks share. Each block has totalled its own tiles. The last block
/// of a group of them merges the group's totals, and the last of these blocks the totals of all groups, in a fixed
/// order, so that every run gives the same numbers. `all_threads` of a block take part, with columns of `all_channels`.
template <class Plan, int all_channels, int all_threads>
struct ColumnTotals {};

template <class Plan, int all_channels, int all_threads>
    requires(Plan::totals_tiles)
class ColumnTotals<Plan, all_channels, all_threads> {
    using Collector = detail::Collector<typename Plan::Epilogue>;
    using Op = typename Collector::Op;
    using Total = typename Op::template Total<float>;
    using View = detail::TileTotalsView<Total>;
    using Merger = TotalMerger<Total>;
    static constexpr unsigned threads = all_threads, channels = all_channels;
    static constexpr unsigned most_parts = threads > channels ? threads / channels : 1;

public:
    struct Shared {
        Uninitialized<Total> parts[threads / 32][channels];
    };

    /// Called by the threads, whose NamedBarrier is `barrier`, after warpgroups have put their totals into the first
    /// `all_parts` of `shared`. There are `columns` columns, which blocks take in turn.
    template <class Params, class Problem, class Barrier>
    __device__ static void finalize(Params const& params, Problem const& conv, Shared& shared, unsigned all_parts,
                                    unsigned columns, unsigned thread, unsigned block, Barrier const& barrier) {
        auto const& args = Collector::args(params.bound.epilogue);
        View const view{args.scratch.data, params.y.layout.shape[1]};
        unsigned const column = block % columns, first_k = column * channels,
                       left = static_cast<unsigned>(conv.group_k()) - first_k,
                       count = left < channels ? left : channels;
        unsigned const group_size = params.tile_groups.group_size;
        auto const groups_of = [=](unsigned totals) { return (totals + group_size - 1) / group_size; };
        unsigned const blocks = params.tile_groups.tiles;
        GridGroup::State* const states = params.tile_groups.workspace.state(column * (groups_of(blocks) + 1));

        barrier();
        unsigned parts = all_parts, own = block / columns;
        for (unsigned totals = blocks, apart = 1; totals > 1; totals = groups_of(totals), apart *= group_size) {
            for (unsigned n = thread; n < count; n += threads)
                view.put(own * apart, first_k + n, merge_parts(shared, parts, n));
            unsigned const group = own / group_size, first = group * group_size, behind = totals - first,
                           merged = behind < group_size ? behind : group_size;
            if (!is_last(states[apart > 1 ? 0 : 1 + group], merged, thread, barrier)) return;
            unsigned const needed = (merged + 7) / 8;
            parts = needed < most_parts ? needed : most_parts;
#pragma unroll 1
            for (unsigned i = thread; i < parts * channels; i += threads)
                if (unsigned const part = i / channels, n = i % channels; n < count)
                    shared.parts[part][n].value() = merge_all<12>(part, merged, parts, [&](unsigned other) {
                        return load(view, (first + other) * apart, first_k, n);
                    });
            barrier();
            own = group;
        }
        for (unsigned n = thread; n < count; n += threads)
            Op::save(merge_parts(shared, parts, n), {0, std::int64_t{first_k} + n, 0, 0}, args);
    }

private:
    /// Whether this block is the last of so many.
    template <class Barrier>
    __device__ static bool is_last(GridGroup::State& state, unsigned blocks, unsigned thread, Barrier const& barrier) {
        barrier();
        bool const last = thread == 0 && ptx::add_one(&state.arrived) == blocks - 1;
        if (last) state.arrived = 0;
        return barrier.any(last);
    }

    /// Of channel `n` of a column. Its channels' Moments have one count, which all lanes of a warp read together.
    __device__ static Total load(View const& view, unsigned sharer, unsigned first_k, unsigned n) {
        if constexpr (std::is_same_v<Total, fusekit::detail::Moments<float>>)
            return {load_word(view, sharer, first_k, 0), load_word(view, sharer, first_k + n, 1),
                    load_word(view, sharer, first_k + n, 2)};
        else return load_total(view, sharer, first_k + n);
    }

    __device__ static Total merge_parts(Shared& shared, unsigned parts, unsigned n) {
        return merge_all<8>(0, parts, 1, [&](unsigned part) { return shared.parts[part][n].value(); });
    }

    /// Merges the totals get(first), get(first + step) and so on. So many are loaded `together`, and wait for memory
    /// once.
    template <unsigned together, class Get>
    __device__ static Total merge_all(unsigned first, unsigned end, unsigned step, Get const& get) {
        Merger merger(get(first));
#pragma unroll 1
        for (unsigned begin = first + step; begin < end; begin += together * step) {
            Total totals[together];
#pragma unroll
            for (unsigned i = 0; i < together; ++i)
                if (begin + i * step < end) totals[i] = get(begin + i * step);
#pragma unroll
            for (unsigned i = 0; i < together; ++i)
                if (begin + i * step < end) merger.add(totals[i]);
        }
        return merger.total();
    }
};

}  // namespace fusekit::hip
