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
    std::mutex mutex = {};  ///< guards what nobody has waited for yet
    std::vector<std::function<void()>> waiting = {};
};

namespace hip_on_cpu {

/// Does the work now, or keeps it where the stream is being captured or does not block.
hipError_t submit(hipStream_t stream, std::function<void()> work);

/// Does what the stream, if it still exists, or all streams of a device have kept.
void finish(hipStream_t stream);
void finish_all(int device);

/// For calls that no capture may see, such as those that wait: what is wrong, and the capture is lost.
hipError_t refuse_in_capture();

}  // namespace hip_on_cpu
