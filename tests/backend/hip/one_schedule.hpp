// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/hip.hpp"

namespace test {

/// Stream on which plans with a Conv or Gemm run with one schedule, and others as the library chooses: of each plan the
/// kernels of one schedule are compiled, not all that the library chooses from, for tests of what plans compute
/// whatever computes it.
template <class Schedule = fusekit::hip::Direct<>, fusekit::hip::Orders orders = fusekit::hip::Orders::any>
class OneSchedule : public fusekit::hip::Directed<OneSchedule<Schedule, orders>> {
public:
    explicit OneSchedule(fusekit::hip::Stream const& stream) : fusekit::hip::Directed<OneSchedule>(stream) {}

    template <class BoundPlan, fusekit::Element T, fusekit::detail::OutputElement U>
    auto prepare(BoundPlan const& bound, fusekit::detail::ImageView<T const> const& x,
                 fusekit::detail::ImageView<U> const& y) const {
        if constexpr (BoundPlan::Plan::has_mainloop)
            return fusekit::hip::prepare_conv_with<Schedule, orders>(this->stream->gpu(), bound, x, y);
        else return this->stream->prepare(bound, x, y);
    }
};

/// Compiles one kernel of each plan, of channels-last tensors.
using ChannelsLastDirect = OneSchedule<fusekit::hip::Direct<>, fusekit::hip::Orders::channels_last>;

}  // namespace test
