// SPDX-License-Identifier: MIT
#pragma once

#include <hip/hip_runtime.h>

#include <functional>
#include <mutex>
#include <vector>

struct hipGraph {
    std::vector<std::function<void()>> work;
    bool valid = true;
};

struct hipStream {
    int device;
    unsigned flags;
    hipGraph* capture = nullptr;
    std::mutex mutex = {};  ///< guards `waiting`, the deferred work
    std::vector<std::function<void()>> waiting = {};
};

namespace hip_on_cpu {

/// Runs `work` now; appends it to the graph if the stream is being captured, and defers it if the stream is
/// non-blocking. Returns an error if the stream's device is not current.
hipError_t submit(hipStream_t stream, std::function<void()> work);

/// finish(): runs the deferred work of the stream, if it still exists. finish_all(): runs that of all streams of a
/// device.
void finish(hipStream_t stream);
void finish_all(int device);

/// Called by functions that are invalid during capture, such as synchronization. During a capture of this thread,
/// returns hipErrorStreamCaptureUnsupported and invalidates the capture.
hipError_t refuse_in_capture();

}  // namespace hip_on_cpu
