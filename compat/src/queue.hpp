// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>

#include "backend.hpp"

namespace fusekit::compat {

/// Target of a handle's runs: a stream of the application on the GPU that is current when the handle is created, or the
/// CPU. One unit for each kind of device (hip/queue.cpp, host/queue.cpp) has the functions: no other source of the
/// drop-in depends on the device. Streams are hipStream_t or cudaStream_t.
class Queue {
public:
    /// Throws Error if there is no GPU.
    explicit Queue(void* the_stream);

    void set_stream(void* the_stream) { stream = the_stream; }
    void* native() const { return stream; }
    /// Address of the stream, for runtime::c::RunTarget.
    void* const* native_address() const { return &stream; }

    /// Number of the GPU; 0 for the CPU.
    int index() const { return number; }

    /// True if the stream is being captured into a graph.
    bool is_captured() const;

    void* allocate(std::size_t bytes) const;
    void release(void* memory) const noexcept;
    /// Fills workspace with zeros, in stream order. Does nothing on the CPU, whose runs need no zeroed workspace.
    void clear(void* memory, std::size_t bytes) const;

    /// Enqueues work, synchronizes with it, and returns the milliseconds that it takes; 0 in a graph capture.
    float time(std::function<void()> const& work) const;

    /// Backend of the device with the plans that were compiled in advance; null if the drop-in has none.
    static runtime::c::Backend const* ready_made();
    /// True if a run that is given no workspace uses one of the device, which preparing the run made large enough.
    static bool device_has_workspace();

private:
    void* stream;
    int number;
};

}  // namespace fusekit::compat
