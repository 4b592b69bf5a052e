// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {

#if defined(__CUDACC__) && !defined(HIP_INCLUDE_HIP_HIP_RUNTIME_H) && CUDART_VERSION >= 12000
/// Launches a kernel with an attribute that a plain launch does not have.
inline hipError_t launch_with(cudaLaunchAttribute attribute, void const* kernel, dim3 grid, dim3 block,
                              void** arguments, unsigned shared_bytes, hipStream_t stream) {
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelExC(&config, kernel, arguments);
}
#endif

}  // namespace fusekit::hip
