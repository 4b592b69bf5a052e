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

/// How plans of one kind of head run: with the library's choice of a schedule, and with one of the caller's.
template <HeadKind kind>
struct RunHead;

template <>
struct RunHead<HeadKind::conv> {
    static void run(Device& device, auto const& bound, auto const& x, auto const& y) { run_conv(device, bound, x, y); }
    template <class Schedule>
    static void run_with(Device& device, auto const& bound, auto const& x, auto const& y) {
        run_conv_with<Schedule>(device, bound, x, y);
    }
};

/// A convolution of single pixels.
template <>
struct RunHead<HeadKind::gemm> : RunHead<HeadKind::conv> {};

template <>
struct RunHead<HeadKind::reduction> {
    static void run(Device& device, auto const& bound, auto const& x, auto const& y) {
        run_reduction(device, bound, x, y);
    }
    template <class Schedule>
    static void run_with(Device& device, auto const& bound, auto const& x, auto const& y) {
        run_reduction_with<Schedule>(device, bound, x, y);
    }
};

template <>
struct RunHead<HeadKind::elementwise> {
    template <class BoundPlan>
    static void run(Device& device, BoundPlan const& bound, auto const& x, auto const& y) {
        if constexpr (BoundPlan::Plan::pools) run_pooling(device, bound, x, y);
        else run_stream(device, bound, x, y);
    }
    template <class Schedule>
    static void run_with(Device& device, auto const& bound, auto const& x, auto const& y) {
        run_stream_with<Schedule>(device, bound, x, y);
    }
};

}  // namespace detail

template <class BoundPlan, Element T>
void Device::run(BoundPlan const& bound, TensorView<T const> const& x, TensorView<T> const& y) {
    detail::RunHead<BoundPlan::Plan::head_kind>::run(*this, bound, x, y);
}

/// A device for calls that run with one schedule. It borrows the device that made it.
template <class Schedule>
class Scheduled : public Memory, public Suits<Schedule> {
public:
    explicit Scheduled(Device& the_device) : Memory(the_device), device(&the_device) {}

    template <class BoundPlan, Element T>
    void run(BoundPlan const& bound, TensorView<T const> const& x, TensorView<T> const& y) {
        detail::RunHead<BoundPlan::Plan::head_kind>::template run_with<Schedule>(*device, bound, x, y);
    }
    void check_accessible(Check const& in, char const* argument, void const* data) const {
        device->check_accessible(in, argument, data);
    }

private:
    Device* device;
};

}  // namespace fusekit::hip
