// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/hip.hpp"

namespace test {

/// Stream on which convolutions of channels-last tensors run with one schedule: of each plan one kernel is compiled,
/// not a score, for tests of what plans compute whatever computes it. Other plans run as the library chooses.
class OneSchedule : public fusekit::hip::Directed<OneSchedule> {
public:
    explicit OneSchedule(fusekit::hip::Stream const& stream) : Directed(stream) {}

    template <class BoundPlan, fusekit::Element T, fusekit::detail::OutputElement U>
    auto prepare(BoundPlan const& bound, fusekit::detail::ImageView<T const> const& x,
                 fusekit::detail::ImageView<U> const& y) const {
        using namespace fusekit::hip;
        if constexpr (BoundPlan::Plan::has_mainloop)
            return prepare_conv_with<Direct<>, Orders::channels_last>(stream->gpu(), bound, x, y);
        else return stream->prepare(bound, x, y);
    }
};

}  // namespace test
