// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <fusekit/backend/host/device.hpp>
#include <fusekit/runtime/handle.hpp>

#include "miopen/miopen.h"

namespace fusekit::compat {

using Device = host::Device;

/// Where a handle's runs are put: the CPU's cores, which all handles share and use in turns. A stream is kept for who
/// asks for it, and means nothing.
class Queue {
public:
    explicit Queue(miopenAcceleratorQueue_t the_stream) : native_stream(the_stream) {}

    void set_stream(miopenAcceleratorQueue_t the_stream) { native_stream = the_stream; }
    miopenAcceleratorQueue_t native() const { return native_stream; }

    /// What launches are prepared for, and what they are put on.
    Device& device() const {
        static Device* const cores = new Device;  // its threads may be used by destructors of the program's own
        return *cores;
    }
    runtime::Stream<Device>& stream() const { return device(); }

    void* allocate(std::size_t bytes) const { return device().allocate(bytes); }
    void release(void* memory) const noexcept { device().release(memory); }
    /// The CPU's runs take workspace as it is.
    void clear(void*, std::size_t) const {}

    /// Runs work, and returns its milliseconds.
    template <class Work>
    float time(Work const& work) const {
        using Clock = std::chrono::steady_clock;
        auto const begin = Clock::now();
        work();
        return std::chrono::duration<float, std::milli>(Clock::now() - begin).count();
    }

private:
    miopenAcceleratorQueue_t native_stream;
};

}  // namespace fusekit::compat
