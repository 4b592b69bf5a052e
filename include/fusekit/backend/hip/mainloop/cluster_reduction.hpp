// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/collective/reduction_lane.hpp"
#include "fusekit/backend/hip/schedule/cluster_reduction.hpp"
#include "fusekit/backend/hip/statistics/total_merger.hpp"
#include "fusekit/backend/hip/statistics/warp_totals.hpp"
#include "fusekit/backend/hip/thread_coord.hpp"

namespace fusekit::hip {

/// Kernel of a plan whose results need sums of all elements of a channel. A cluster reduces a segment (a channel, or
/// `width` packets of matrix columns) that fits in its registers, so that each element is read once. Totals are merged
/// over the lanes of a warp by shuffles, over the warps of a CTA in SMEM, and over the CTAs of the cluster in DSMEM:
/// each CTA stores its totals to all others before the one barrier of the cluster. There is no workspace.
template <class Plan, class Schedule, Element T, detail::OutputElement U, int lanes, Pattern pattern, int vectors>
class ClusterReducing {
    using Steps = detail::ReductionSteps<typename Plan::Head>;
    using Epilogue = typename Plan::Epilogue;
    using Accumulator = typename Steps::template Accumulator<float>;
    using Total = typename Steps::template Total<float>;
    using Prepared = typename Steps::template Prepared<float>;
    using Segment = ReductionSegment<Plan, T, U, lanes, pattern>;
    using PacketOffsets = typename Segment::PacketOffsets;
    using Lane = ReductionLane<Plan>;
    using Quad = Packet<float, 4>;
    static constexpr int own = Segment::totals;
    static constexpr unsigned words = sizeof(Total) / sizeof(float), quads = (words + 3) / 4,
                              words_of_prepared = sizeof(Prepared) / sizeof(float),
                              max_columns = pattern == Pattern::columns ? max_cluster_width * own : 1;
    static_assert(std::is_trivially_copyable_v<Prepared> && sizeof(Prepared) % sizeof(float) == 0);

public:
    static constexpr bool waits_for_previous_kernel = true;
    static constexpr int threads = Schedule::threads;
    /// CTAs per SM: packets take 16 bytes of registers per vector and tensor
    static constexpr int blocks = vectors * (Steps::has_operand ? 2 : 1) <= 4 ? 3 : 2;
    using Params = ReductionParams<Plan, T, U>;
    struct Shared {
        Quad of_warps[threads / 32][max_columns * quads], of_blocks[max_large_cluster_blocks][max_columns * quads];
        float prepared[max_columns * words_of_prepared];
    };

    __device__ __forceinline__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        cluster_arrive();
        wait_for_previous_kernel();
        ClusterReducing(params, shared, thread, block).total_and_apply();
    }

private:
    struct Values {
        Packet<T, lanes> x[vectors], operand[Steps::has_operand ? vectors : 1];
    };

    Params const& params;
    Shared& shared;
    unsigned const thread, number, rank;  ///< `number`: of the segment; `rank`: of the CTA in its cluster
    unsigned const columns;  ///< columns of the segment, each with a Total
    Segment const segment;
    unsigned const first, stride, steps;  ///< the thread's first vector, distance to its next; number of vectors

    __device__ __forceinline__ ClusterReducing(Params const& the_params, Shared& the_shared, unsigned the_thread,
                                               unsigned block)
        : params(the_params),
          shared(the_shared),
          thread(the_thread),
          number(block / the_params.group_size),
          rank(block % the_params.group_size),
          columns(the_params.width * own),
          segment(the_params, number, the_thread % the_params.width),
          first((rank * threads + the_thread) / the_params.width),
          stride(the_params.group_size * threads / the_params.width),
          steps(segment.steps()) {}

    __device__ __forceinline__ void total_and_apply() {
        Values values;
        each([&](int i, unsigned, PacketOffsets const& packet) {
            values.x[i] = *reinterpret_cast<Packet<T, lanes> const*>(params.x.data + packet.x);
            if constexpr (Steps::has_operand)
                values.operand[i] = *reinterpret_cast<Packet<T, lanes> const*>(params.operand.data + packet.operand);
        });
        Lane lane[own];
#pragma unroll
        for (int i = 0; i < own; ++i) {
            lane[i].at = segment.first_coord(i);
            if (steps > 0) lane[i].prepare(params.bound);
        }
        // One thread per column merges the totals of CTAs and prepares the results.
        Segment const merged(params, number, thread / own);
        OutputCoord const at = merged.first_coord(static_cast<int>(thread % own));
        bool const merges = thread < columns && merged.steps() > 0;
        typename Steps::States::PixelState head;
        if (merges) head = Steps::prepare(at, params.bound.head);

        add_to_warp(values, lane);
        __syncthreads();
        cluster_wait();  // all CTAs of the cluster have started
        store_to_blocks();
        cluster_barrier();
        Total all;
        if (thread < columns) all = merged_total(shared.of_blocks, params.group_size, thread);
        if (merges) put_prepared(Steps::finish(all, params.count, head, at, params.bound.head));
        __syncthreads();
        if (steps > 0) write(values, lane);
        if (merges && rank == 0) Steps::save(all, at, params.bound.head);
    }

    /// Calls f(i, step, offsets) for each of the thread's vectors.
    template <class F>
    __device__ __forceinline__ void each(F const& f) const {
#pragma unroll
        for (int i = 0; i < vectors; ++i) {
            unsigned const step = first + static_cast<unsigned>(i) * stride;
            if (step < steps) f(i, step, segment.locate(step));
        }
    }
    __device__ static float operand(Values const& values, int i, int j) {
        if constexpr (Steps::has_operand) return values.operand[i].values[j];
        else return 0;
    }

    /// Adds the thread's values, merges the totals of its warp, and stores them to SMEM.
    __device__ __forceinline__ void add_to_warp(Values const& values, Lane const (&lane)[own]) const {
        Accumulator accumulator[own] = {};
        unsigned count = 0;
        if (first < steps) {
#pragma unroll
            for (int j = 0; j < own; ++j)
                accumulator[j].start(pattern == Pattern::planes ? params.x.data[segment.value_of_image(first)]
                                                                : values.x[0].values[j]);
        }
        each([&](int i, unsigned step, PacketOffsets const& packet) {
#pragma unroll
            for (int j = 0; j < lanes; ++j)
                lane[j % own].with_own(params.bound, segment, step, j, segment.has(packet, j), [&](Lane const& of) {
                    Steps::add(accumulator[j % own], static_cast<float>(values.x[i].values[j]), operand(values, i, j),
                               of.at, of.head, params.bound.head, segment.has(packet, j));
                });
            count += segment.count(packet);
        });
        Total totals[own];
#pragma unroll
        for (int j = 0; j < own; ++j) totals[j] = accumulator[j].total(static_cast<float>(count));
        unsigned const width = params.width, column = thread % width * own,
                       j = WarpTotals<Total, own>::merge_lanes(totals, width, thread % 32);
        if (thread % 32 < width * own) put(shared.of_warps[thread / 32] + (column + j) * quads, totals[0]);
    }

    /// Stores the totals of this CTA to all CTAs of the cluster.
    __device__ __forceinline__ void store_to_blocks() const {
#pragma unroll 1
        for (unsigned i = thread; i < columns * params.group_size; i += threads) {
            unsigned const column = i % columns, to = i / columns;
            Quad packed[quads];
            put(packed, merged_total(shared.of_warps, threads / 32, column));
#pragma unroll
            for (unsigned quad = 0; quad < quads; ++quad)
                store_to_block(shared.of_blocks[rank] + column * quads + quad, to, packed[quad]);
        }
    }

    /// Merges the totals of a column over `count` warps or CTAs, in the order of their numbers.
    __device__ __forceinline__ static Total merged_total(Quad const (*from)[max_columns * quads], unsigned count,
                                                         unsigned column) {
        Total const one = get(from[0] + column * quads);
        MergerOf<Total> merger(one);
        merger.add(one);
#pragma unroll 4
        for (unsigned i = 1; i < count; ++i) merger.add(get(from[i] + column * quads));
        return merger.total();
    }
    __device__ __forceinline__ static void put(Quad* to, Total const& total) {
#pragma unroll
        for (unsigned i = 0; i < quads * 4; ++i)
            to[i / 4].values[i % 4] = i < words ? reinterpret_cast<float const*>(&total)[i] : 0.0f;
    }
    __device__ __forceinline__ static Total get(Quad const* from) {
        Total total;
#pragma unroll
        for (unsigned quad = 0; quad < quads; ++quad) {
            Quad const packet = from[quad];
#pragma unroll
            for (unsigned i = 0; i < 4; ++i)
                if (quad * 4 + i < words) reinterpret_cast<float*>(&total)[quad * 4 + i] = packet.values[i];
        }
        return total;
    }

    __device__ __forceinline__ void put_prepared(Prepared const& prepared) const {
#pragma unroll
        for (unsigned word = 0; word < words_of_prepared; ++word)
            shared.prepared[word * columns + thread] = reinterpret_cast<float const*>(&prepared)[word];
    }

    __device__ __forceinline__ void write(Values const& values, Lane (&lane)[own]) const {
#pragma unroll
        for (int j = 0; j < own; ++j)
#pragma unroll
            for (unsigned word = 0; word < words_of_prepared; ++word)
                reinterpret_cast<float*>(&lane[j].prepared)[word] =
                    shared.prepared[word * columns + thread % params.width * own + static_cast<unsigned>(j)];
        each([&](int i, unsigned step, PacketOffsets const& packet) {
            Packet<U, lanes> result{};
#pragma unroll
            for (int j = 0; j < lanes; ++j)
                lane[j % own].with_own(params.bound, segment, step, j, segment.has(packet, j), [&](Lane const& of) {
                    ThreadCoord const at(of.at);
                    float const value = Steps::apply(static_cast<float>(values.x[i].values[j]), operand(values, i, j),
                                                     at, of.head, of.prepared, params.bound.head);
                    result.values[j] = U(Epilogue::apply(value, at, of.epilogue, params.bound.epilogue));
                });
            if constexpr (!Element<U>) return;
            U* const to = params.y.data + packet.y;
            if (segment.whole(packet)) {
                *reinterpret_cast<Packet<U, lanes>*>(to) = result;
                return;
            }
#pragma unroll
            for (int j = 0; j < lanes; ++j)
                if (segment.has(packet, j)) to[j] = result.values[j];
        });
    }
};

}  // namespace fusekit::hip
