// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/backend/hip/runtime/memory.hpp>

/// Timing of work on a GPU's streams.
namespace fusekit::compat::timing {

using namespace hip;  // under nvcc, names of HIP's functions are in namespace hip

/// A HIP event on a stream. Precondition: the stream's device is current from the event's creation to its destruction.
class Event {
public:
    explicit Event(Memory const& the_stream) : stream(the_stream) {
        hip::check(hipEventCreate(&event), stream.index(), "hipEventCreate");
    }
    Event(Event const&) = delete;
    Event& operator=(Event const&) = delete;
    ~Event() {
        if (hipEventDestroy(event) != hipSuccess) hip::clear_last_error();
    }

    void record() const { hip::check(hipEventRecord(event, stream.stream()), stream.index(), "hipEventRecord"); }
    /// Synchronizes with this event, and returns the milliseconds from the event `begin` to it.
    float since(Event const& begin) const {
        float milliseconds = 0;
        hip::check(hipEventSynchronize(event), stream.index(), "hipEventSynchronize");
        hip::check(hipEventElapsedTime(&milliseconds, begin.event, event), stream.index(), "hipEventElapsedTime");
        return milliseconds;
    }

private:
    Memory const& stream;
    hipEvent_t event = {};
};

/// True if the stream is being captured into a graph, or is the default stream while another stream is captured: then
/// events on it cannot be synchronized with.
inline bool is_captured(Memory const& stream) {
    hipStreamCaptureStatus status{};
    if (hipStreamIsCapturing(stream.stream(), &status) == hipSuccess) return status != hipStreamCaptureStatusNone;
    hip::clear_last_error();
    return true;
}

/// Enqueues work on a stream, synchronizes, and returns the milliseconds between events before and after the work. For
/// work that is captured into a graph, returns 0 without synchronizing.
template <class Work>
float milliseconds_of(Memory const& stream, Work const& work) {
    hip::DeviceGuard const guard(stream.index());
    if (is_captured(stream)) {
        work();
        return 0;
    }
    Event const begin(stream), end(stream);
    begin.record();
    work();
    end.record();
    return end.since(begin);
}

}  // namespace fusekit::compat::timing
