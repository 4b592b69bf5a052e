// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/error.hpp"

namespace fusekit::hip {

/// One GPU's memory, copied to and from in the order of one stream.
class Memory {
public:
    Memory(int the_device, hipStream_t stream) : device(the_device), queue(stream) {}

    /// Which of the machine's GPUs it is, counted as HIP does.
    int index() const { return device; }
    hipStream_t stream() const { return queue; }

    /// Throws Error when there is not enough.
    void* allocate(std::size_t bytes) const {
        DeviceGuard const guard(device);
        void* memory = nullptr;
        hipError_t const status = hipMalloc(&memory, bytes);
        if (status == hipSuccess) return memory;
        clear_last_error();
        std::size_t free = 0, total = 0;
        static_cast<void>(hipMemGetInfo(&free, &total));
        raise(Error("hip::Device", "device " + Text::number(device), "hipMalloc",
                    Text::number(bytes) + " bytes of free memory",
                    Text::number(free) + " of " + Text::number(total) + " bytes free: " + error_string(status)));
    }
    void release(void* memory) const {
        if (hipFree(memory) != hipSuccess) clear_last_error();
    }

    /// Between the host and the device, after all that the stream was given before; returns when it is done.
    void copy_in(void* to, void const* from, std::size_t bytes) const { copy(to, from, bytes, hipMemcpyHostToDevice); }
    void copy_out(void* to, void const* from, std::size_t bytes) const { copy(to, from, bytes, hipMemcpyDeviceToHost); }

    void synchronize() const {
        DeviceGuard const guard(device);
        check(hipStreamSynchronize(queue), device, "hipStreamSynchronize");
    }

private:
    int device;
    hipStream_t queue;

    void copy(void* to, void const* from, std::size_t bytes, decltype(hipMemcpyHostToDevice) kind) const {
        DeviceGuard const guard(device);
        check(hipMemcpyAsync(to, from, bytes, kind, queue), device, "hipMemcpyAsync");
        check(hipStreamSynchronize(queue), device, "hipStreamSynchronize");
    }
};

}  // namespace fusekit::hip
