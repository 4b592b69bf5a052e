// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/backend/hip/runtime/device.hpp>
#include <fusekit/runtime/handle.hpp>
#include <memory>
#include <mutex>
#include <vector>

#include "miopen/miopen.h"
#include "timing.hpp"

namespace fusekit::compat {

using Device = hip::Device;

/// Target of a handle's runs: the application's stream, on the GPU that is current when the handle is created.
class Queue {
public:
    explicit Queue(miopenAcceleratorQueue_t the_stream) : gpu(current_device()), own(borrow(the_stream)) {}

    void set_stream(miopenAcceleratorQueue_t the_stream) { own = borrow(the_stream); }
    miopenAcceleratorQueue_t native() const { return own.stream(); }

    /// The device, for which launches are prepared, and the stream, on which they are enqueued.
    Device& device() const { return gpu; }
    runtime::Stream<Device>& stream() const { return own; }

    void* allocate(std::size_t bytes) const { return own.allocate(bytes); }
    void release(void* memory) const noexcept { own.release(memory); }
    /// Fills workspace with zeros, in stream order.
    void clear(void* memory, std::size_t bytes) const {
        using namespace hip;  // under nvcc, names of HIP's functions are in namespace hip
        DeviceGuard const guard(own.index());
        hip::check(hipMemsetAsync(memory, 0, bytes, own.stream()), own.index(), "hipMemsetAsync");
    }

    /// Enqueues work, synchronizes with it, and returns the milliseconds between events before and after it; 0 in a
    /// graph capture.
    template <class Work>
    float time(Work const& work) const {
        return timing::milliseconds_of(own, work);
    }

private:
    Device& gpu;
    hip::Stream own;

    hip::Stream borrow(miopenAcceleratorQueue_t stream) const {
        using namespace hip;
        return {gpu, static_cast<hipStream_t>(stream)};
    }

    /// Device of the current GPU. Created once per GPU and never destroyed.
    static Device& current_device() {
        static std::mutex mutex;
        static auto& devices = *new std::vector<std::unique_ptr<Device>>;
        using namespace hip;
        int index = 0;
        hip::check(hipGetDevice(&index), 0, "hipGetDevice", "a GPU, and a driver for it");
        std::lock_guard const lock(mutex);
        auto const number = static_cast<std::size_t>(index);
        if (devices.size() <= number) devices.resize(number + 1);
        if (!devices[number]) devices[number] = std::make_unique<Device>(index);
        return *devices[number];
    }
};

}  // namespace fusekit::compat
