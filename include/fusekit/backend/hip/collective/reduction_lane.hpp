// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/collective/reduction_segment.hpp"

namespace fusekit::hip {

/// What the elements of one total share: the part of their place that is the same, and what is prepared for it.
template <class Plan>
struct ReductionLane {
    using Steps = detail::ReductionSteps<typename Plan::Head>;
    using Epilogue = typename Plan::Epilogue;

    OutputCoord at;
    typename Steps::States::PlaceState head;
    typename Epilogue::PlaceState epilogue;
    typename Steps::template Prepared<float> prepared;

    __device__ __forceinline__ void prepare(BoundPlan<Plan> const& bound) {
        head = Steps::prepare(at, bound.head);
        epilogue = Epilogue::prepare(at, bound.epilogue);
    }

    /// Calls f with the lane of one element. Where operators ask for places, the lane is prepared for this element's
    /// place, and elements outside the segment are left out.
    template <class Segment, class F>
    __device__ __forceinline__ void with_own(BoundPlan<Plan> const& bound, Segment const& segment, unsigned step, int j,
                                             bool has, F const& f) const {
        if constexpr (Steps::States::placewise || Epilogue::placewise) {
            if (!has) return;
            ReductionLane of = *this;
            of.at = segment.place(step, j);
            if constexpr (!Steps::per_place) of.prepare(bound);
            f(of);
        } else {
            f(*this);
        }
    }
};

}  // namespace fusekit::hip
