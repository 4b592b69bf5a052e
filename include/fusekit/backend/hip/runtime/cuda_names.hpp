// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

/// HIP's names for CUDA's runtime, as far as fusekit, its tests and its benchmarks use them. They are in fusekit's own
/// namespace, so that they meet neither HIP's headers nor anybody else's mapping.
namespace fusekit::hip {

using hipError_t = cudaError_t;
using hipStream_t = cudaStream_t;
using hipEvent_t = cudaEvent_t;
using hipGraph_t = cudaGraph_t;
using hipGraphExec_t = cudaGraphExec_t;
using hipDeviceAttribute_t = cudaDeviceAttr;
using hipDeviceProp_t = cudaDeviceProp;
using hipStreamCaptureStatus = cudaStreamCaptureStatus;
using hipPointerAttribute_t = cudaPointerAttributes;
using hipFuncAttributes = cudaFuncAttributes;

inline constexpr auto hipSuccess = cudaSuccess;
inline constexpr auto hipErrorNoDevice = cudaErrorNoDevice;
inline constexpr auto hipErrorInsufficientDriver = cudaErrorInsufficientDriver;
inline constexpr auto hipErrorInvalidDevice = cudaErrorInvalidDevice;
inline constexpr auto hipErrorInvalidValue = cudaErrorInvalidValue;
inline constexpr auto hipErrorInvalidConfiguration = cudaErrorInvalidConfiguration;
inline constexpr auto hipErrorInvalidDeviceFunction = cudaErrorInvalidDeviceFunction;
inline constexpr auto hipErrorNoBinaryForGpu = cudaErrorNoKernelImageForDevice;
inline constexpr auto hipErrorOutOfMemory = cudaErrorMemoryAllocation;
inline constexpr auto hipErrorIllegalAddress = cudaErrorIllegalAddress;
inline constexpr auto hipErrorLaunchFailure = cudaErrorLaunchFailure;
inline constexpr auto hipDeviceAttributeClockRate = cudaDevAttrClockRate;
inline constexpr auto hipDeviceAttributeMemoryBusWidth = cudaDevAttrGlobalMemoryBusWidth;
inline constexpr auto hipDeviceAttributeMemoryClockRate = cudaDevAttrMemoryClockRate;
inline constexpr auto hipDeviceAttributeMemoryPoolsSupported = cudaDevAttrMemoryPoolsSupported;
inline constexpr auto hipMemcpyHostToDevice = cudaMemcpyHostToDevice;
inline constexpr auto hipMemcpyDeviceToHost = cudaMemcpyDeviceToHost;
inline constexpr auto hipMemcpyDeviceToDevice = cudaMemcpyDeviceToDevice;
inline constexpr auto hipMemcpyDefault = cudaMemcpyDefault;
inline constexpr auto hipMemoryTypeHost = cudaMemoryTypeHost;
inline constexpr auto hipMemoryTypeDevice = cudaMemoryTypeDevice;
inline constexpr auto hipMemoryTypeManaged = cudaMemoryTypeManaged;
inline constexpr auto hipStreamDefault = cudaStreamDefault;
inline constexpr auto hipStreamNonBlocking = cudaStreamNonBlocking;
inline constexpr auto hipStreamCaptureModeGlobal = cudaStreamCaptureModeGlobal;
inline constexpr auto hipStreamCaptureModeThreadLocal = cudaStreamCaptureModeThreadLocal;
inline constexpr auto hipStreamCaptureModeRelaxed = cudaStreamCaptureModeRelaxed;
inline constexpr auto hipStreamCaptureStatusNone = cudaStreamCaptureStatusNone;

inline auto hipGetErrorName(hipError_t error) { return cudaGetErrorName(error); }
inline auto hipGetErrorString(hipError_t error) { return cudaGetErrorString(error); }
inline auto hipGetLastError() { return cudaGetLastError(); }
inline auto hipPeekAtLastError() { return cudaPeekAtLastError(); }

inline auto hipDriverGetVersion(int* version) { return cudaDriverGetVersion(version); }
inline auto hipRuntimeGetVersion(int* version) { return cudaRuntimeGetVersion(version); }
inline auto hipGetDeviceCount(int* count) { return cudaGetDeviceCount(count); }
inline auto hipGetDevice(int* index) { return cudaGetDevice(index); }
inline auto hipSetDevice(int index) { return cudaSetDevice(index); }
inline auto hipGetDeviceProperties(hipDeviceProp_t* properties, int index) {
    return cudaGetDeviceProperties(properties, index);
}
inline auto hipDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int index) {
    return cudaDeviceGetAttribute(value, attribute, index);
}
inline auto hipDeviceSynchronize() { return cudaDeviceSynchronize(); }

inline auto hipMalloc(void** memory, std::size_t bytes) { return cudaMalloc(memory, bytes); }
inline auto hipMallocAsync(void** memory, std::size_t bytes, hipStream_t stream) {
    return cudaMallocAsync(memory, bytes, stream);
}
inline auto hipFreeAsync(void* memory, hipStream_t stream) { return cudaFreeAsync(memory, stream); }
inline auto hipFree(void* memory) { return cudaFree(memory); }
inline auto hipMemGetInfo(std::size_t* free, std::size_t* total) { return cudaMemGetInfo(free, total); }
inline auto hipMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpy(to, from, bytes, kind);
}
inline auto hipMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind, hipStream_t stream) {
    return cudaMemcpyAsync(to, from, bytes, kind, stream);
}
inline auto hipMemset(void* memory, int value, std::size_t bytes) { return cudaMemset(memory, value, bytes); }
inline auto hipMemsetAsync(void* memory, int value, std::size_t bytes, hipStream_t stream) {
    return cudaMemsetAsync(memory, value, bytes, stream);
}
inline auto hipPointerGetAttributes(hipPointerAttribute_t* attributes, void const* pointer) {
    return cudaPointerGetAttributes(attributes, pointer);
}

inline auto hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
    return cudaStreamCreateWithFlags(stream, flags);
}
inline auto hipStreamDestroy(hipStream_t stream) { return cudaStreamDestroy(stream); }
inline auto hipStreamSynchronize(hipStream_t stream) { return cudaStreamSynchronize(stream); }
inline auto hipStreamGetFlags(hipStream_t stream, unsigned* flags) { return cudaStreamGetFlags(stream, flags); }
inline auto hipStreamBeginCapture(hipStream_t stream, cudaStreamCaptureMode mode) {
    return cudaStreamBeginCapture(stream, mode);
}
inline auto hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) { return cudaStreamEndCapture(stream, graph); }
inline auto hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
    return cudaStreamIsCapturing(stream, status);
}

inline auto hipGraphInstantiate(hipGraphExec_t* executable, hipGraph_t graph, void*, char*, std::size_t) {
    return cudaGraphInstantiate(executable, graph, 0);
}
inline auto hipGraphLaunch(hipGraphExec_t executable, hipStream_t stream) {
    return cudaGraphLaunch(executable, stream);
}
inline auto hipGraphDestroy(hipGraph_t graph) { return cudaGraphDestroy(graph); }
inline auto hipGraphExecDestroy(hipGraphExec_t executable) { return cudaGraphExecDestroy(executable); }

inline auto hipEventCreate(hipEvent_t* event) { return cudaEventCreate(event); }
inline auto hipEventDestroy(hipEvent_t event) { return cudaEventDestroy(event); }
inline auto hipEventRecord(hipEvent_t event, hipStream_t stream) { return cudaEventRecord(event, stream); }
inline auto hipEventSynchronize(hipEvent_t event) { return cudaEventSynchronize(event); }
inline auto hipEventElapsedTime(float* milliseconds, hipEvent_t begin, hipEvent_t end) {
    return cudaEventElapsedTime(milliseconds, begin, end);
}

template <class Kernel>
auto hipLaunchKernel(Kernel* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared, hipStream_t stream) {
    return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
template <class Kernel>
auto hipLaunchCooperativeKernel(Kernel* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                hipStream_t stream) {
    return cudaLaunchCooperativeKernel(kernel, grid, block, arguments, shared, stream);
}
inline constexpr auto hipFuncAttributeMaxDynamicSharedMemorySize = cudaFuncAttributeMaxDynamicSharedMemorySize;
inline auto hipFuncSetAttribute(void const* kernel, cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute(kernel, attribute, value);
}
inline auto hipFuncGetAttributes(hipFuncAttributes* attributes, void const* kernel) {
    return cudaFuncGetAttributes(attributes, kernel);
}

}  // namespace fusekit::hip

#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
