// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/collective/reduction_segment.hpp"

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

}  // namespace fusekit::hip
