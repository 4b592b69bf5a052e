// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <fusekit/backend/host/device.hpp>
#include <fusekit/runtime/handle.hpp>

#include "miopen/miopen.h"

namespace fusekit::compat {

using Device = host::Device;

/// Target of a handle's runs: the CPU, which all handles share; their runs are serialized. The stream is stored and
/// otherwise unused.
class Queue {
public:
    explicit Queue(miopenAcceleratorQueue_t the_stream) : native_stream(the_stream) {}

    void set_stream(miopenAcceleratorQueue_t the_stream) { native_stream = the_stream; }
    miopenAcceleratorQueue_t native() const { return native_stream; }

    /// Device that launches are prepared for and run on.
    Device& device() const {
        static Device* const cores = new Device;  // destructors of static objects may still use its threads
        return *cores;
    }
    runtime::Stream<Device>& stream() const { return device(); }

    void* allocate(std::size_t bytes) const { return device().allocate(bytes); }
    void release(void* memory) const noexcept { device().release(memory); }
    /// No-op: runs on the CPU need no zeroed workspace.
    void clear(void*, std::size_t) const {}

    /// Runs work and returns its milliseconds.
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
