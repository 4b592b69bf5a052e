// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/collective/reduction_segment.hpp"
#include "fusekit/backend/hip/thread_coord.hpp"

namespace fusekit::hip {

/// A thread's state for one sum of a reduction: the coordinate `at` that all its elements share (their channel or their
/// pixel), and the operators' parameters prepared for this coordinate.
template <class Plan>
struct ReductionLane {
    using Steps = detail::ReductionSteps<typename Plan::Head>;
    using Epilogue = typename Plan::Epilogue;

    OutputCoord at;
    typename Steps::States::PixelState head;
    typename Epilogue::PixelState epilogue;
    typename Steps::template Prepared<float> prepared;

    __device__ __forceinline__ void prepare(BoundPlan<Plan> const& bound) {
        head = Steps::prepare(at, bound.head);
        epilogue = Epilogue::prepare(at, bound.epilogue);
    }

    /// Calls f(lane) for element j of the vector that the thread loads in loop step `step`, where `lane` is this state.
    /// If operators read coordinates, `lane` has the element's own coordinate, and f is not called for elements for
    /// which `has` is false: those outside the channel or matrix columns that the CTA reduces.
    template <class Segment, class F>
    __device__ __forceinline__ void with_own(BoundPlan<Plan> const& bound, Segment const& segment, unsigned step, int j,
                                             bool has, F const& f) const {
        if constexpr (Steps::States::pixelwise || Epilogue::pixelwise) {
            if (!has) return;
            ReductionLane of = *this;
            of.at = segment.coord(step, j);
            if constexpr (!Steps::per_pixel) of.prepare(bound);
            f(of);
        } else {
            f(*this);
        }
    }
};

/// The vectors of x, and of the second operand of a gradient, that a thread of a reduction keeps in registers, and the
/// steps on one of them, number i, of loop step `step`. A thread has `totals` sums (ReductionSegment::totals).
template <class Plan, Element T, detail::OutputElement U, int lanes, Pattern pattern, int vectors,
          bool may_have_slabs = false>
struct ReductionVectors {
    using Steps = detail::ReductionSteps<typename Plan::Head>;
    using Epilogue = typename Plan::Epilogue;
    using Accumulator = typename Steps::template Accumulator<float>;
    using Total = typename Steps::template Total<float>;
    using Lane = ReductionLane<Plan>;
    using Params = ReductionParams<Plan, T, U>;
    using Segment = ReductionSegment<Plan, T, U, lanes, pattern, may_have_slabs>;
    using PacketOffsets = typename Segment::PacketOffsets;
    static constexpr int totals = Segment::totals;

    Packet<T, lanes> x[vectors], operand[Steps::has_operand ? vectors : 1];

    /// Loads vector i by read(packet).
    template <class Read>
    __device__ __forceinline__ void load(int i, Params const& params, PacketOffsets const& packet, Read const& read) {
        x[i] = read(reinterpret_cast<Packet<T, lanes> const*>(params.x.data + packet.x));
        if constexpr (Steps::has_operand)
            operand[i] = read(reinterpret_cast<Packet<T, lanes> const*>(params.operand.data + packet.operand));
    }
    /// Keeps the compiler from loading the vectors again.
    __device__ __forceinline__ void keep() {
#pragma unroll
        for (int i = 0; i < vectors; ++i) {
            make_opaque(x[i]);
            if constexpr (Steps::has_operand) make_opaque(operand[i]);
        }
    }

    /// Starts the accumulators with a value of their sums: with the channel's first element in the image of loop step
    /// `step` or, for matrix columns, with those of the vector first().
    template <class First>
    __device__ __forceinline__ static void start(Accumulator (&accumulator)[totals], Params const& params,
                                                 Segment const& segment, unsigned step, First const& first) {
        if constexpr (pattern == Pattern::planes) {
            accumulator[0].start(params.x.data[segment.value_of_image(step)]);
        } else {
            Packet<T, lanes> const of_columns = first();
#pragma unroll
            for (int j = 0; j < totals; ++j) accumulator[j].start(of_columns.values[j]);
        }
    }
    /// Adds the elements j of vector i for which counts(j) is true to the accumulators.
    template <class Counts>
    __device__ __forceinline__ void add(int i, unsigned step, Segment const& segment, BoundPlan<Plan> const& bound,
                                        Lane const (&lane)[totals], Accumulator (&accumulator)[totals],
                                        Counts const& counts) const {
#pragma unroll
        for (int j = 0; j < lanes; ++j)
            lane[j % totals].with_own(bound, segment, step, j, counts(j), [&](Lane const& of) {
                Steps::add(accumulator[j % totals], static_cast<float>(x[i].values[j]), second(i, j), of.at, of.head,
                           bound.head, counts(j));
            });
    }
    /// Applies the plan to vector i and stores the results to y: by store(to, results), or one by one if the vector
    /// extends past its plane.
    template <class Store>
    __device__ __forceinline__ void write(int i, unsigned step, Segment const& segment, Params const& params,
                                          PacketOffsets const& packet, Lane const (&lane)[totals],
                                          Store const& store) const {
        Packet<U, lanes> results{};
#pragma unroll
        for (int j = 0; j < lanes; ++j)
            lane[j % totals].with_own(params.bound, segment, step, j, segment.has(packet, j), [&](Lane const& of) {
                ThreadCoord const at(of.at);
                float const value = Steps::apply(static_cast<float>(x[i].values[j]), second(i, j), at, of.head,
                                                 of.prepared, params.bound.head);
                results.values[j] = U(Epilogue::apply(value, at, of.epilogue, params.bound.epilogue));
            });
        if constexpr (!Element<U>) return;
        U* const to = params.y.data + packet.y;
        if (segment.whole(packet)) return store(reinterpret_cast<Packet<U, lanes>*>(to), results);
#pragma unroll
        for (int j = 0; j < lanes; ++j)
            if (segment.has(packet, j)) to[j] = results.values[j];
    }

private:
    __device__ float second(int i, int j) const {
        if constexpr (Steps::has_operand) return operand[i].values[j];
        else return 0;
    }
};

}  // namespace fusekit::hip
