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
    std::mutex mutex = {};  ///< guards deferred work
    std::vector<std::function<void()>> waiting = {};
};

namespace hip_on_cpu {

/// Runs the work now, or defers it if the stream is captured or non-blocking.
hipError_t submit(hipStream_t stream, std::function<void()> work);

/// Runs the deferred work of the stream, if it still exists, or of all streams of a device.
void finish(hipStream_t stream);
void finish_all(int device);

/// For calls that are invalid during capture, such as synchronization: returns the error and invalidates the capture.
hipError_t refuse_in_capture();

}  // namespace hip_on_cpu
