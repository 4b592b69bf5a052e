// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/run_conv.hpp"
#include "fusekit/backend/hip/run_pooling.hpp"
#include "fusekit/backend/hip/run_reduction.hpp"
#include "fusekit/backend/hip/run_stream.hpp"

namespace fusekit::hip {

static_assert(fusekit::Device<Device>);

namespace detail {

template <class T>
consteval bool runs_on_gpu() {
    constexpr bool runs = !std::is_same_v<T, double>;
    static_assert(runs, "double runs on the host only: a plan on a GPU takes float, half, bfloat16 or int8");
    return runs;
}

}  // namespace detail

template <class Bound, Element T>
void Device::run(Bound const& bound, TensorView<T const> const& x, TensorView<T> const& y) {
    if constexpr (!detail::runs_on_gpu<T>()) return;
    else if constexpr (Bound::Plan::has_conv) run_conv(*this, bound, x, y);
    else if constexpr (Bound::Plan::has_reduction) run_reduction(*this, bound, x, y);
    else if constexpr (Bound::Plan::pools) run_pooling(*this, bound, x, y);
    else run_stream(*this, bound, x, y);
}

/// A device for calls that run with one schedule. It borrows the device that made it.
template <class Schedule>
class Scheduled : public Memory {
public:
    explicit Scheduled(Device& the_device) : Memory(the_device), device(&the_device) {}

    template <class Bound, Element T>
    void run(Bound const& bound, TensorView<T const> const& x, TensorView<T> const& y) {
        if constexpr (detail::runs_on_gpu<T>() && suits<Schedule, typename Bound::Plan>()) {
            if constexpr (Bound::Plan::has_conv) run_conv_with<Schedule>(*device, bound, x, y);
            else if constexpr (Bound::Plan::has_reduction) run_reduction_with<Schedule>(*device, bound, x, y);
            else run_stream_with<Schedule>(*device, bound, x, y);
        }
    }
    void reach(Check const& in, char const* argument, void const* data) const { device->reach(in, argument, data); }

private:
    Device* device;
};

}  // namespace fusekit::hip
