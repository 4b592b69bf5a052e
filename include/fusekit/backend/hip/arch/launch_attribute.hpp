// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/abi.hpp"
#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {

/// A kernel without the type of its parameter, as launches take it, so that they are compiled once for all kernels.
/// any_kernel() returns that of a kernel of one parameter.
#if defined(HIP_ON_CPU)
using AnyKernel = hip_on_cpu::AnyKernel;
template <class Params>
FUSEKIT_H AnyKernel any_kernel(void (*kernel)(Params)) {
    return hip_on_cpu::any_kernel(kernel);
}
#else
using AnyKernel = void const*;
template <class Params>
FUSEKIT_H AnyKernel any_kernel(void (*kernel)(Params)) {
    return reinterpret_cast<void const*>(kernel);
}
#endif

#if defined(__CUDACC__) && !defined(HIP_INCLUDE_HIP_HIP_RUNTIME_H) && CUDART_VERSION >= 12000
/// Launches a kernel with `attributes` that the <<<...>>> syntax cannot express.
template <unsigned Count>
FUSEKIT_H hipError_t launch_with(cudaLaunchAttribute (&&attributes)[Count], void const* kernel, dim3 grid, dim3 block,
                                 void** arguments, unsigned shared_bytes, hipStream_t stream) {
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = Count;
    return cudaLaunchKernelExC(&config, kernel, arguments);
}

/// Returns the launch attribute that allows the kernel to start before the previous one on the stream has ended
/// (overlap.hpp).
FUSEKIT_H inline cudaLaunchAttribute starts_early() {
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    return early;
}
/// Returns the launch attribute for clusters of `blocks` CTAs (cluster.hpp).
FUSEKIT_H inline cudaLaunchAttribute in_clusters_of(unsigned blocks) {
    cudaLaunchAttribute size = {};
    size.id = cudaLaunchAttributeClusterDimension;
    size.val.clusterDim.x = blocks;
    size.val.clusterDim.y = size.val.clusterDim.z = 1;
    return size;
}
#endif

}  // namespace fusekit::hip
