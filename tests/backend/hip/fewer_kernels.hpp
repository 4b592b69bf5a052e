// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/hip.hpp"

namespace test {

/// Stream on which plans with a Conv or Gemm run with Schedule, and others as the library chooses: of each plan the
/// kernels of one schedule are compiled, not all that the library chooses from.
template <class Schedule>
class OnlySchedule : public fusekit::hip::Directed<OnlySchedule<Schedule>> {
public:
    explicit OnlySchedule(fusekit::hip::Stream const& stream) : fusekit::hip::Directed<OnlySchedule>(stream) {}

    template <class BoundPlan, fusekit::Element T, fusekit::detail::OutputElement U>
    auto prepare(BoundPlan const& bound, fusekit::detail::ImageView<T const> const& x,
                 fusekit::detail::ImageView<U> const& y) const {
        if constexpr (BoundPlan::Plan::has_mainloop)
            return fusekit::hip::prepare_conv_with<Schedule>(this->stream->gpu(), bound, x, y);
        else return this->stream->prepare(bound, x, y);
    }
};

/// The device; with FEWER_KERNELS (FUSEKIT_FEWER_KERNELS) OnlySchedule on it: for tests of what many plans compute
/// whatever kernel computes it, beside tests that run some of these plans as the library chooses. The default computes
/// any layout and type, and windows of up to 15 slices, rows and columns; Direct computes any window.
#ifdef FEWER_KERNELS
template <class Schedule = fusekit::hip::Gemm<64, 64, 16>>
OnlySchedule<Schedule> fewer_kernels(fusekit::hip::Device& device) {
    return OnlySchedule<Schedule>(device);
}
#else
template <class Schedule = fusekit::hip::Gemm<64, 64, 16>>
fusekit::hip::Device& fewer_kernels(fusekit::hip::Device& device) {
    return device;
}
#endif

}  // namespace test
