// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// Loads the statistics of channel k of an output tile from global memory, bypassing the L1 cache, because another CTA
/// may have written them.
template <class Total>
__device__ __forceinline__ Total load_total(detail::TileTotalsView<Total> const& view, unsigned tile, unsigned k) {
    Total total;
#pragma unroll
    for (int word = 0; word < detail::TileTotalsView<Total>::words; ++word)
        reinterpret_cast<float*>(&total)[word] =
            load_fresh(reinterpret_cast<Packet<float, 1> const*>(view.at(tile, k, word))).values[0];
    return total;
}

/// Statistics of a Conv's output (ChannelStatistics). Each CTA computes the statistics (a Total, for example count,
/// mean and squared deviations) of each channel over its output tile and writes them to the caller's scratch in global
/// memory. The last CTA to finish in each group of consecutive tiles merges the group's statistics, and the last CTA of
/// all merges those of the groups. The merges are pairwise, so that the rounding error does not grow with the tensor,
/// and in a fixed order: results are bitwise identical in every run. This primary template, for plans without
/// statistics, does nothing.
template <class Plan, int channels, int max_parts, int threads>
struct TileTotals {
    struct Shared {};
    struct Total {};
    struct Accumulator {
        __device__ void add(float) {}
        __device__ Total total() const { return {}; }
    };
};

template <class Plan, int channels, int max_parts, int threads>
    requires(Plan::totals_tiles)
class TileTotals<Plan, channels, max_parts, threads> {
    using Collector = detail::Collector<typename Plan::Epilogue>;
    using Op = typename Collector::Op;

public:
    using Total = typename Op::template Total<float>;

    /// SMEM layout of the partial statistics of an output tile: for each channel, up to max_parts of them, each over
    /// some of the tile's pixels.
    struct Shared {
        Uninitialized<Total> parts[max_parts][channels];
        bool is_last;
    };

    /// Accumulates values of one channel in one thread's registers.
    class Accumulator {
    public:
        __device__ void add(float x, bool counts = true) {
            accumulator.add(x, counts);
            count += counts;
        }
        __device__ Total total() const { return accumulator.total(static_cast<float>(count)); }

    private:
        typename Op::template Accumulator<float> accumulator{};
        int count = 0;
    };

    /// Merges the CTA's partial statistics of an output tile and writes them to global memory; if the CTA is the last
    /// to finish, merges and saves the statistics of all tiles. `tile`, `column`: index of the tile along y's pixels
    /// and along y's channels; it has `count_n` channels, from channel `first_k` of y on. All threads of the CTA call
    /// it, after they have written `parts` partial statistics of each channel to `shared`.
    template <class Params>
    __device__ __forceinline__ static void finalize(Params const& params, Shared& shared, unsigned parts,
                                                    unsigned thread, unsigned tile, unsigned column, int first_k,
                                                    unsigned count_n) {
        auto const& args = Collector::args(params.bound.epilogue);
        View const view{args.scratch.data, params.y.layout.shape[1]};
        unsigned const tiles = params.tile_groups.tiles, group_size = params.tile_groups.group_size;
        unsigned const groups = (tiles + group_size - 1) / group_size, group = tile / group_size,
                       begin = group * group_size;
        GridGroup::State* const states = params.tile_groups.workspace.state(column * (groups + 1));

        merge_partials(shared, parts, thread, count_n, view, tile, first_k);
        unsigned const here = group_size < tiles - begin ? group_size : tiles - begin;
        if (!is_last_block(states + 1 + group, here, thread, shared)) return;
        merge_tiles(view, thread, begin, 1, here, first_k, count_n);
        if (!is_last_block(states, groups, thread, shared)) return;
        merge_tiles(view, thread, 0, group_size, groups, first_k, count_n);
        for (unsigned n = thread; n < count_n; n += threads)
            Op::save(load_total(view, 0, static_cast<unsigned>(first_k) + n), {0, std::int64_t{first_k} + n, 0, 0},
                     args);
    }

private:
    using View = detail::TileTotalsView<Total>;

    __device__ __forceinline__ static bool is_last_block(GridGroup::State* state, unsigned group_size, unsigned thread,
                                                         Shared& shared) {
        bool const last = hip::is_last_block(&state->arrived, group_size, thread, shared.is_last);
        if (last && thread == 0) state->arrived = 0;
        return last;
    }

    __device__ __forceinline__ static void merge_partials(Shared& shared, unsigned parts, unsigned thread,
                                                          unsigned count_n, View const& view, unsigned tile,
                                                          int first_k) {
        __syncthreads();
        for (unsigned n = thread; n < count_n; n += threads) {
            Total total = shared.parts[0][n].value();
            for (unsigned part = 1; part < parts; ++part) total = merge(total, shared.parts[part][n].value());
            view.put(tile, static_cast<unsigned>(first_k) + n, total);
        }
    }

    /// Merges the statistics of `tiles` tiles, whose indices are `first`, first + `step`, ..., into those of tile
    /// `first`, as a binary tree over consecutive tiles. A thread merges three levels of the tree (8 tiles) between its
    /// loads and its store.
    __device__ __forceinline__ static void merge_tiles(View const& view, unsigned thread, unsigned first, unsigned step,
                                                       unsigned tiles, int first_k, unsigned count_n) {
        constexpr unsigned fan_in = 8;
        for (unsigned distance = 1; distance < tiles; distance *= fan_in) {
            unsigned const remaining = (tiles + distance - 1) / distance, merged = (remaining + fan_in - 1) / fan_in;
#pragma unroll 1
            for (unsigned i = thread; i < merged * channels; i += threads) {
                unsigned const n = i % channels, begin = i / channels * fan_in, behind = remaining - begin,
                               here = behind < fan_in ? behind : fan_in, k = static_cast<unsigned>(first_k) + n;
                if (n >= count_n) continue;
                Total totals[fan_in];
#pragma unroll
                for (unsigned j = 0; j < fan_in; ++j)
                    if (j < here) totals[j] = load_total(view, first + (begin + j) * distance * step, k);
#pragma unroll
                for (unsigned apart = 1; apart < fan_in; apart *= 2)
#pragma unroll
                    for (unsigned j = 0; j + apart < fan_in; j += 2 * apart)
                        if (j + apart < here) totals[j] = merge(totals[j], totals[j + apart]);
                view.put(first + begin * distance * step, k, totals[0]);
            }
            __syncthreads();
        }
    }
};

}  // namespace fusekit::hip
