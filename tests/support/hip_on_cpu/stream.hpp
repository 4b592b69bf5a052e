// SPDX-License-Identifier: MIT
#pragma once

#include <hip/hip_runtime.h>

#include <functional>
#include <vector>

struct hipGraph {
    std::vector<std::function<void()>> work;
    bool valid = true;
};

struct hipStream {
    int device;
    hipGraph* capture = nullptr;
};

namespace hip_on_cpu {

/// Does the work now, or keeps it where the stream is being captured.
hipError_t submit(hipStream_t stream, std::function<void()> work);

/// For calls that no capture may see, such as those that wait: what is wrong, and the capture is lost.
hipError_t refuse_in_capture();

}  // namespace hip_on_cpu
