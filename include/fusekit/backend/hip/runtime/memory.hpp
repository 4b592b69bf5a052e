// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/runtime/error.hpp"

namespace fusekit::hip {

/// Allocates, frees, copies and fills memory of one GPU. Copies and fills are ordered with the work on one stream.
class Memory {
public:
    FUSEKIT_H Memory(int the_device, hipStream_t stream) : number(the_device), queue(stream) {}

    /// HIP's device index.
    FUSEKIT_H int index() const { return number; }
    FUSEKIT_H hipStream_t stream() const { return queue; }

    /// Allocates memory on the GPU. Throws Error if the GPU has too little free memory.
    FUSEKIT_H void* allocate(std::size_t bytes) const {
        DeviceGuard const guard(number);
        void* memory = nullptr;
        hipError_t const status = in_order ? hipMallocAsync(&memory, bytes, queue) : hipMalloc(&memory, bytes);
        if (status == hipSuccess) return memory;
        clear_last_error();
        std::size_t free = 0, total = 0;
        if (hipMemGetInfo(&free, &total) != hipSuccess) clear_last_error();
        detail::raise(Error("hip::Device", "device " + Text::number(number), in_order ? "hipMallocAsync" : "hipMalloc",
                            Text::number(bytes) + " bytes of free memory",
                            Text::number(free) + " of " + Text::number(total) + " bytes free: " + error_string(status),
                            static_cast<int>(status)));
    }
    /// Frees memory that allocate() returned, with its device as HIP's current device.
    FUSEKIT_H void release(void* memory) const {
        Refusal of_a_lost_device;
        DeviceGuard const guard(number, &of_a_lost_device);
        if ((in_order ? hipFreeAsync(memory, queue) : hipFree(memory)) != hipSuccess) clear_last_error();
    }

    /// Returns an allocator for the same GPU and stream that allocates and frees in stream order, without
    /// synchronizing. Other streams may use its allocations after an event orders them.
    FUSEKIT_H Memory in_stream_order() const {
        Memory ordered = *this;
        ordered.in_order = true;
        return ordered;
    }

    /// Copies from the host to the GPU (copy_in) or back (copy_out) after the stream's earlier work; returns when the
    /// copy is complete.
    FUSEKIT_H void copy_in(void* to, void const* from, std::size_t bytes) const {
        copy(to, from, bytes, hipMemcpyHostToDevice);
    }
    FUSEKIT_H void copy_out(void* to, void const* from, std::size_t bytes) const {
        copy(to, from, bytes, hipMemcpyDeviceToHost);
    }

    /// Fills memory with zeros after the stream's earlier work; returns when the fill is complete.
    FUSEKIT_H void fill_zero(void* memory, std::size_t bytes) const {
        DeviceGuard const guard(number);
        check(hipMemsetAsync(memory, 0, bytes, queue), number, "hipMemsetAsync");
        check(hipStreamSynchronize(queue), number, "hipStreamSynchronize");
    }

    FUSEKIT_H void synchronize() const {
        DeviceGuard const guard(number);
        check(hipStreamSynchronize(queue), number, "hipStreamSynchronize");
    }

private:
    int number;
    hipStream_t queue;
    bool in_order = false;

    FUSEKIT_H void copy(void* to, void const* from, std::size_t bytes, decltype(hipMemcpyHostToDevice) kind) const {
        DeviceGuard const guard(number);
        check(hipMemcpyAsync(to, from, bytes, kind, queue), number, "hipMemcpyAsync");
        check(hipStreamSynchronize(queue), number, "hipStreamSynchronize");
    }
};

}  // namespace fusekit::hip
