// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <fusekit/backend/host/device.hpp>
#include <fusekit/runtime/handle.hpp>

#include "miopen/miopen.h"

namespace fusekit::compat {

using Device = host::Device;

/// Target of a handle's runs: one CPU device for all handles, whose runs are serialized. The application's stream is
/// stored for miopenGetStream() and not used.
class Queue {
public:
    explicit Queue(miopenAcceleratorQueue_t the_stream) : native_stream(the_stream) {}

    void set_stream(miopenAcceleratorQueue_t the_stream) { native_stream = the_stream; }
    miopenAcceleratorQueue_t native() const { return native_stream; }

    /// CPU device, for which launches are prepared and on which they run.
    Device& device() const {
        // never destroyed: destructors of static objects may still use its threads
        static Device* const cores = new Device;
        return *cores;
    }
    runtime::Stream<Device>& stream() const { return device(); }

    void* allocate(std::size_t bytes) const { return device().allocate(bytes); }
    void release(void* memory) const noexcept { device().release(memory); }
    /// Does nothing, because runs on the CPU need no zeroed workspace.
    void clear(void*, std::size_t) const {}

    /// Runs work and returns the milliseconds that it takes.
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
