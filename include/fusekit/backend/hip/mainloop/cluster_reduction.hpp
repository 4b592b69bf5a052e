// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/collective/reduction_vectors.hpp"
#include "fusekit/backend/hip/schedule/cluster_reduction.hpp"
#include "fusekit/backend/hip/statistics/total_merger.hpp"
#include "fusekit/backend/hip/statistics/warp_sums.hpp"

namespace fusekit::hip {

/// Kernel of a plan whose results need sums of all elements of a channel. A cluster reduces a segment (a channel, or
/// `width` packets of matrix columns) that fits in its registers, so that each element is read once. Totals are merged
/// over the lanes of a warp by shuffles, over the warps of a CTA in SMEM, and over the CTAs of the cluster in DSMEM:
/// each CTA stores its totals to all others before the one barrier of the cluster. There is no workspace.
template <class Plan, class Schedule, Element T, detail::OutputElement U, int lanes, Pattern pattern, int vectors>
class ClusterReducing {
    using Values = ReductionVectors<Plan, T, U, lanes, pattern, vectors>;
    using Steps = typename Values::Steps;
    using Epilogue = typename Plan::Epilogue;
    using Accumulator = typename Values::Accumulator;
    using Total = typename Values::Total;
    using Prepared = typename Steps::template Prepared<float>;
    using Segment = typename Values::Segment;
    using PacketOffsets = typename Values::PacketOffsets;
    using Lane = typename Values::Lane;
    using Packet4 = Packet<float, 4>;
    static constexpr int own = Segment::totals;
    static constexpr unsigned words = sizeof(Total) / sizeof(float), packets = (words + 3) / 4,
                              words_of_prepared = sizeof(Prepared) / sizeof(float),
                              max_columns = pattern == Pattern::columns ? Schedule::widest * own : 1;
    static_assert(std::is_trivially_copyable_v<Prepared> && sizeof(Prepared) % sizeof(float) == 0);
    /// Prepared parameters of a channel's head and epilogue, in SMEM; one thread per column prepares them. Elements
    /// need the head's for gradients only. A State smaller than a float is empty.
    using HeadState = typename Steps::States::PixelState;
    using EpilogueState = typename Epilogue::PixelState;
    static constexpr unsigned words_of_head = Steps::has_operand ? sizeof(HeadState) / sizeof(float) : 0,
                              words_of_state = words_of_head + sizeof(EpilogueState) / sizeof(float);
    static_assert(std::is_trivially_copyable_v<HeadState> && std::is_trivially_copyable_v<EpilogueState>);

public:
    static constexpr bool waits_for_previous_kernel = true;
    static constexpr int threads = Schedule::threads;
    static constexpr int blocks = vectors == Schedule::few && !Steps::has_operand ? 4 : 2;
    using Params = ReductionParams<Plan, T, U>;
    struct Shared {
        Packet4 of_warps[threads / 32][max_columns * packets],
            of_blocks[max_large_cluster_blocks][max_columns * packets];
        float prepared[max_columns * words_of_prepared], states[max_columns * words_of_state + 1];
    };

    __device__ __forceinline__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        cluster_arrive();
        wait_for_previous_kernel();
        start_next_kernel();
        ClusterReducing(params, shared, thread, block).total_and_apply();
    }

private:
    Params const& params;
    Shared& shared;
    unsigned const thread, number, rank;  ///< `number`: of the segment; `rank`: of the CTA in its cluster
    unsigned const column, columns;  ///< the thread's packet in a row; columns of the segment, each with a Total
    Segment const segment;
    unsigned const first, stride, steps;  ///< the thread's first vector, distance to its next; number of vectors

    __device__ __forceinline__ ClusterReducing(Params const& the_params, Shared& the_shared, unsigned the_thread,
                                               unsigned block)
        : params(the_params),
          shared(the_shared),
          thread(the_thread),
          number(block >> the_params.group_size_log),
          rank(block & (the_params.group_size - 1)),
          column(the_thread & (the_params.width - 1)),
          columns(static_cast<unsigned>(own) << the_params.width_log),
          segment(the_params, number, column),
          first((rank * threads + the_thread) >> the_params.width_log),
          stride(static_cast<unsigned>(threads) << the_params.group_size_log >> the_params.width_log),
          steps(segment.steps()) {}

    __device__ __forceinline__ void total_and_apply() {
        Values values;
        each([&](int i, unsigned, PacketOffsets const& packet) {
            values.load(i, params, packet, [](auto const* from) { return *from; });
        });
        Lane lane[own];
#pragma unroll
        for (int i = 0; i < own; ++i) lane[i].at = segment.first_coord(i);
        // One thread per column prepares the operators, merges the totals of CTAs, and prepares the results.
        Segment const merged(params, number, thread / own);
        OutputCoord const at = merged.first_coord(static_cast<int>(thread % own));
        bool const merges = thread < columns && merged.steps() > 0;
        HeadState head;
        if (merges) {
            head = Steps::prepare(at, params.bound.head);
            if constexpr (words_of_head > 0) put_state(head, 0);
            if constexpr (words_of_state > words_of_head)
                put_state(Epilogue::prepare(at, params.bound.epilogue), words_of_head);
        }
        if constexpr (words_of_state > 0) __syncthreads();
        get_states(lane);

        add_to_warp(values, lane);
        __syncthreads();
        cluster_wait();  // all CTAs of the cluster have started
        store_to_blocks();
        cluster_barrier();
        Total all;
        if (thread < columns) all = merged_total(shared.of_blocks, params.group_size, thread);
        if (merges) put_prepared(Steps::finish(all, params.count, head, at, params.bound.head));
        __syncthreads();
        get_states(lane);
        values.keep();
        if (steps > 0) write(values, lane);
        if (merges && rank == 0) Steps::save(all, at, params.bound.head);
    }

    /// Stores the state of a channel, number `thread` of the segment, to SMEM from word `from` on.
    template <class State>
    __device__ __forceinline__ void put_state(State const& state, unsigned from) const {
#pragma unroll
        for (unsigned word = 0; word < sizeof(State) / sizeof(float); ++word)
            __builtin_memcpy(&shared.states[(from + word) * columns + thread],
                             reinterpret_cast<char const*>(&state) + word * sizeof(float), sizeof(float));
    }
    template <class State>
    __device__ __forceinline__ void get_state(State& state, unsigned from, unsigned of) const {
#pragma unroll
        for (unsigned word = 0; word < sizeof(State) / sizeof(float); ++word)
            __builtin_memcpy(reinterpret_cast<char*>(&state) + word * sizeof(float),
                             &shared.states[(from + word) * columns + of], sizeof(float));
    }
    __device__ __forceinline__ void get_states(Lane (&lane)[own]) const {
#pragma unroll
        for (int i = 0; i < own; ++i) {
            unsigned const of = column * own + static_cast<unsigned>(i);
            if constexpr (words_of_head > 0) get_state(lane[i].head, 0, of);
            if constexpr (words_of_state > words_of_head) get_state(lane[i].epilogue, words_of_head, of);
        }
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

    /// Adds the thread's values and those of its warp, and stores the warp's totals to SMEM.
    __device__ __forceinline__ void add_to_warp(Values const& values, Lane const (&lane)[own]) const {
        Accumulator accumulator[own] = {};
        unsigned count = 0;
        if constexpr (equal_floats<Accumulator> > 0) start(accumulator);
        each([&](int i, unsigned step, PacketOffsets const& packet) {
            values.add(i, step, segment, params.bound, lane, accumulator,
                       [&](int j) { return segment.has(packet, j); });
            count += segment.count(packet);
        });
        using Sums = WarpSums<Accumulator, own>;
        auto total_count = static_cast<float>(count);
        if constexpr (equal_floats<Accumulator> > 0) total_count = Sums::add(total_count, params.width);
        unsigned const j = Sums::add(accumulator, params.width, thread % 32);
        if (thread % 32 < columns)
            put(shared.of_warps[thread / 32] + (column * own + j) * packets, accumulator[0].total(total_count));
    }
    /// Sets the shift of a column's accumulators to the same value in all lanes of a warp: an element of the warp's
    /// first vector.
    __device__ __forceinline__ void start(Accumulator (&accumulator)[own]) const {
        unsigned const step = first - (thread % 32 >> params.width_log);
        if (step >= steps) return;
        Values::start(accumulator, params, segment, step, [&]() -> Packet<T, lanes> const& {
            return *reinterpret_cast<Packet<T, lanes> const*>(params.x.data + segment.locate(step).x);
        });
    }

    /// Stores the totals of this CTA to all CTAs of the cluster.
    __device__ __forceinline__ void store_to_blocks() const {
#pragma unroll 1
        for (unsigned i = thread; i < columns * params.group_size; i += threads) {
            unsigned const of = i & (columns - 1), to = i / own >> params.width_log;
            Packet4 packed[packets];
            put(packed, merged_total(shared.of_warps, threads / 32, of));
#pragma unroll
            for (unsigned of_total = 0; of_total < packets; ++of_total)
                store_to_block(shared.of_blocks[rank] + of * packets + of_total, to, packed[of_total]);
        }
    }

    /// Merges the totals of a column over `count` warps or CTAs, in the order of their numbers.
    __device__ __forceinline__ static Total merged_total(Packet4 const (*from)[max_columns * packets], unsigned count,
                                                         unsigned of) {
        Total const one = get(from[0] + of * packets);
        MergerOf<Total> merger(one);
        merger.add(one);
#pragma unroll 4
        for (unsigned i = 1; i < count; ++i) merger.add(get(from[i] + of * packets));
        return merger.total();
    }
    __device__ __forceinline__ static void put(Packet4* to, Total const& total) {
#pragma unroll
        for (unsigned i = 0; i < packets * 4; ++i)
            to[i / 4].values[i % 4] = i < words ? reinterpret_cast<float const*>(&total)[i] : 0.0f;
    }
    __device__ __forceinline__ static Total get(Packet4 const* from) {
        Total total;
#pragma unroll
        for (unsigned of_total = 0; of_total < packets; ++of_total) {
            Packet4 const packet = from[of_total];
#pragma unroll
            for (unsigned i = 0; i < 4; ++i)
                if (of_total * 4 + i < words) reinterpret_cast<float*>(&total)[of_total * 4 + i] = packet.values[i];
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
                    shared.prepared[word * columns + column * own + static_cast<unsigned>(j)];
        each([&](int i, unsigned step, PacketOffsets const& packet) {
            values.write(i, step, segment, params, packet, lane, [](auto* to, auto const& results) { *to = results; });
        });
    }
};

}  // namespace fusekit::hip
