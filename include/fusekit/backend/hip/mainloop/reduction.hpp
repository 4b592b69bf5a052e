// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/collective/block_sum.hpp"
#include "fusekit/backend/hip/collective/reduction_vectors.hpp"
#include "fusekit/backend/hip/schedule/reduction.hpp"
#include "fusekit/backend/hip/statistics/cluster_totals.hpp"
#include "fusekit/backend/hip/statistics/grid_group_totals.hpp"
#include "fusekit/backend/hip/statistics/pairwise_totals.hpp"
#include "fusekit/backend/hip/statistics/shared_totals.hpp"

namespace fusekit::hip {

/// Kernel of a plan that reduces. The work is divided into segments (ReductionParams): a channel, or some matrix
/// columns. Pass 1: CTAs sum a segment; several CTAs, a cluster or a grid group, may divide it. Pass 2, for results
/// that need the sums, processes the elements in reverse order: the last ones of pass 1 are in registers or in L2. All
/// functions are inlined: otherwise the kernel argument is copied to local memory.
template <class Plan, class Schedule, Element T, detail::OutputElement U, int lanes, Pattern pattern, bool in_parts>
class Reducing {
    using Steps = detail::ReductionSteps<typename Plan::Head>;
    using Total = typename Steps::template Total<float>;
    static constexpr bool may_have_slabs = pattern == Pattern::any && (in_parts || !Steps::has_totals);
    static constexpr int own = pattern == Pattern::columns ? lanes : 1, sums = sizeof(Total) / sizeof(float);
    static constexpr int crowd = own == 1 && lanes != 4 ? 2 : 1;  // twice the CTAs if a thread needs few registers

public:
    static constexpr int unroll = (max)(1, Schedule::unroll / (Steps::has_operand ? 2 : 1) / crowd);
    /// true if CTAs may merge totals within clusters; floats of any strides spill 20 bytes of registers with it
    static constexpr bool may_cluster = kernels_cluster && (pattern != Pattern::any || sizeof(T) < 4);
    static constexpr int totals = own, threads = Schedule::threads, blocks = Schedule::blocks * crowd;
    using Params = ReductionParams<Plan, T, U>;
    struct Shared {
        alignas(16) float sums[threads * own * Reducing::sums];
        bool is_last;  ///< set by the barrier of the grid group
    };

    __device__ __forceinline__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        unsigned const grid_group = block / params.group_size, block_rank = block % params.group_size;
        for (unsigned number = grid_group; number < params.segments; number += params.grid_groups)
            Reducing(reload(params), shared, thread, grid_group, block_rank, number).total_and_apply();
    }

private:
    using Values = ReductionVectors<Plan, T, U, lanes, pattern, unroll, may_have_slabs>;
    using Accumulator = typename Values::Accumulator;
    using Lane = typename Values::Lane;
    using Segment = typename Values::Segment;
    using PacketOffsets = typename Values::PacketOffsets;

    Params const& params;
    Shared& shared;
    unsigned const thread, grid_group, block_rank, number;
    unsigned const rows, row, column;  ///< number of rows of threads in a CTA; this thread's row and column
    Segment const segment;
    unsigned const first, stride, steps;  ///< the thread's first vector, distance to its next; number of vectors

    __device__ __forceinline__ Reducing(Params const& the_params, Shared& the_shared, unsigned the_thread,
                                        unsigned the_grid_group, unsigned the_block_rank, unsigned the_number,
                                        unsigned slab = 0)
        : params(the_params),
          shared(the_shared),
          thread(the_thread),
          grid_group(the_grid_group),
          block_rank(the_block_rank),
          number(the_number),
          rows(the_params.threads / the_params.width),
          row(the_thread / the_params.width),
          column(the_thread % the_params.width),
          segment(the_params, the_number, column, slab),
          first(the_block_rank * rows + row),
          stride(the_params.group_size * rows),
          steps(segment.steps()) {}

    __device__ __forceinline__ void total_and_apply() {
        Lane lane[own];
        Values values;
        unsigned step = first;
        if (step < steps) load<!Steps::waits>(step, values);  // in flight while the parameters are prepared
#pragma unroll
        for (int i = 0; i < own; ++i) {
            lane[i].at = segment.first_coord(i);
            if (steps > 0) lane[i].prepare(params.bound);
        }
        Total of_segment[own];
        for (unsigned slab = 0;;) {
            reloaded(slab).read(step, values, lane, of_segment, slab);
            if (!may_have_slabs || ++slab >= params.slabs) break;
            Reducing const next = reloaded(slab);
            if (step = first; step < next.steps) next.template load<!Steps::waits>(step, values);
        }
        if constexpr (Steps::has_totals) {
            if (params.group_size > 1) reloaded().merge_blocks(of_segment);
            reloaded().apply(of_segment, step, values, lane);
        }
    }

    /// True if all threads run the same number of iterations: needed with parts, which end with barriers. Otherwise for
    /// speed: on an H100, planes of 14x14 halves gain 7 %; 7x7 floats lose 10 % (15 more registers).
    static constexpr bool counted = in_parts || crowd > 1;

    /// Sums the thread's vectors, `unroll` at a time. Parts (PairwiseTotals) are numbered through all ranges of images.
    __device__ __forceinline__ void read(unsigned& step, Values& values, Lane const (&lane)[own],
                                         Total (&of_segment)[own], unsigned slab) const {
        Accumulator accumulator[own] = {};
        unsigned count = 0, part = may_have_slabs ? slab * params.slab_parts : 0, end = params.part;
        if (Steps::has_totals && step < steps) start(step, values, accumulator);
        for (unsigned group = 0; counted ? group < params.groups : step < steps; ++group) {
            if (counted ? group > 0 : step > first) load<!Steps::waits>(step, values);
            if constexpr (Steps::has_totals) {
                if (in_parts && group == end) {
                    reloaded().total(accumulator, count, of_segment, part++);
                    end += params.part, count = 0;
#pragma unroll
                    for (int i = 0; i < own; ++i) accumulator[i] = {};
                    if (step < steps) start(step, values, accumulator);
                }
                add(step, values, lane, accumulator, count);
            }
            if constexpr (!Steps::waits) write(step, values, lane);
            if (!counted || step < steps) step += unroll * stride;
        }
        if constexpr (Steps::has_totals) reloaded().total(accumulator, count, of_segment, part);
    }

    /// Returns this object with reloaded parameters, so that only the thread's indices stay in registers.
    __device__ __forceinline__ Reducing reloaded(unsigned slab = 0) const {
        return Reducing(reload(params), shared, opaque_per_thread(thread), opaque_per_block(grid_group),
                        opaque_per_block(block_rank), number, slab);
    }
    __device__ __forceinline__ Reducing of_slab(unsigned slab) const { return may_have_slabs ? reloaded(slab) : *this; }
    /// Returns the number of the thread's last vector + its stride, rounded up to whole iterations of `unroll`.
    __device__ __forceinline__ unsigned end() const {
        return first + (first < steps ? (steps - first - 1) / (unroll * stride) + 1 : 0) * (unroll * stride);
    }

    __device__ __forceinline__ void apply(Total const (&of_segment)[own], unsigned step, Values& values,
                                          Lane (&lane)[own]) const {
        if (steps == 0 && params.count > 0) return;  // past the last column; sums of no elements are saved
        bool const saves = row == 0 && block_rank == 0;
        if (saves) stash().put(thread, of_segment);
        if constexpr (Steps::waits) {
#pragma unroll
            for (int i = 0; i < own; ++i)
                lane[i].prepared =
                    Steps::finish(of_segment[i], params.count, lane[i].head, lane[i].at, params.bound.head);
            values.keep();
            bool kept = true;
            for (unsigned slab = params.slabs;;) {
                of_slab(slab - 1).write_back(step, values, lane, kept);
                if (!may_have_slabs || --slab == 0) break;
                step = of_slab(slab - 1).end(), kept = false;
            }
        }
        if (saves) reloaded().save();
    }

    /// Writes the results of the vectors before `step`, `unroll` at a time, from last to first. If `kept`, the elements
    /// of the last `unroll` vectors are still in registers.
    __device__ __forceinline__ void write_back(unsigned& step, Values& values, Lane const (&lane)[own],
                                               bool kept) const {
        for (; step > first; kept = false) {
            step -= unroll * stride;
            if (!kept) load<true>(step, values);
            write(step, values, lane);
        }
    }

    /// Saves the sums of the channel or columns, which apply() has stored to SMEM.
    __device__ __forceinline__ void save() const {
#pragma unroll
        for (int i = 0; i < own; ++i) Steps::save(stash().get(thread, i), segment.first_coord(i), params.bound.head);
    }
    __device__ __forceinline__ SharedTotals<Total, own, threads> stash() const { return {shared.sums}; }

    /// Calls f(i, step, offsets) for up to `unroll` of the thread's vectors, from `step` on; no branches if all exist.
    template <class F>
    __device__ __forceinline__ void each(unsigned step, F const& f) const {
        if (step + (unroll - 1) * stride < steps) {
#pragma unroll
            for (int i = 0; i < unroll; ++i) {
                unsigned const at = step + static_cast<unsigned>(i) * stride;
                f(i, at, segment.locate(at));
            }
        } else {
#pragma unroll
            for (int i = 0; i < unroll; ++i) {
                unsigned const at = step + static_cast<unsigned>(i) * stride;
                if (at < steps) f(i, at, segment.locate(at));
            }
        }
    }
    template <bool last_use>
    __device__ __forceinline__ void load(unsigned step, Values& values) const {
        each(step, [&](int i, unsigned, PacketOffsets const& packet) {
            values.load(i, params, packet, [](auto const* from) {
                if constexpr (last_use) return load_once(from);
                else return *from;
            });
        });
    }

    __device__ __forceinline__ void start(unsigned step, Values const& values, Accumulator (&accumulator)[own]) const {
        Values::start(accumulator, params, segment, step, [&]() -> Packet<T, lanes> const& { return values.x[0]; });
    }

    /// Adds `unroll` vectors to the accumulators. `count`: number of elements added to each accumulator so far.
    __device__ __forceinline__ void add(unsigned step, Values const& values, Lane const (&lane)[own],
                                        Accumulator (&accumulator)[own], unsigned& count) const {
        if (segment.aligned())
            each(step, [&](int i, unsigned now, PacketOffsets const&) {
                values.add(i, now, segment, params.bound, lane, accumulator, [](int) { return true; });
                count += lanes / own;
            });
        else
            each(step, [&](int i, unsigned now, PacketOffsets const& packet) {
                values.add(i, now, segment, params.bound, lane, accumulator,
                           [&](int j) { return segment.has(packet, j); });
                count += segment.count(packet);
            });
    }

    __device__ __forceinline__ void write(unsigned step, Values const& values, Lane const (&lane)[own]) const {
        each(step, [&](int i, unsigned now, PacketOffsets const& packet) {
            values.write(i, now, segment, params, packet, lane,
                         [](auto* to, auto const& results) { store_once(to, results); });
        });
    }

    /// Sums the accumulators of part number `part` over the CTA's threads. Returns its columns' sums to every thread,
    /// after the last part those over all parts.
    __device__ __forceinline__ void total(Accumulator const (&accumulator)[own], unsigned count,
                                          Total (&of_segment)[own], unsigned part) const {
#pragma unroll
        for (int i = 0; i < own; ++i) of_segment[i] = accumulator[i].total(static_cast<float>(count));
        Total::combine(of_segment,
                       [&](auto& values) { Rows{params.threads, params.width, thread}.sum(values, shared.sums); });
        if (in_parts && (params.part < params.groups || params.slabs > 1))
            PairwiseTotals<Total, own, threads>{shared.sums}.add(part, of_segment, column, row == 0);
    }

    /// Merges the sums of a segment's CTAs (a cluster or a grid group). Returns its columns' sums to every thread.
    __device__ __forceinline__ void merge_blocks(Total (&of_segment)[own]) const {
        unsigned const columns = params.width * own;
        if (may_cluster && params.in_clusters)
            return ClusterTotals<Total>(shared.sums, columns)
                .merge_all(of_segment, column * own, row == 0, params.group_size, thread);
        GridGroupTotals<Total> const group_totals{
            params.workspace.values() + grid_group * (params.group_size + 1) * columns * sums, columns};
        if (row == 0) group_totals.put(block_rank + 1, column * own, of_segment);
        GridGroup(params.workspace.state(grid_group), params.group_size, thread, shared.is_last).arrive_and_wait([&] {
            group_totals.template merge_all<(min)(own, 4)>(params.group_size, params.threads, thread, shared.sums);
        });
        group_totals.get(0, column * own, of_segment);
    }
};

}  // namespace fusekit::hip
