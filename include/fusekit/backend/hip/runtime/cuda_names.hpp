// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "fusekit/abi.hpp"

/// HIP's names for the part of CUDA's runtime that fusekit, its tests and its benchmarks use, in a namespace so that
/// they do not collide with HIP's headers or with another mapping.
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

FUSEKIT_H inline auto hipGetErrorName(hipError_t error) { return cudaGetErrorName(error); }
FUSEKIT_H inline auto hipGetErrorString(hipError_t error) { return cudaGetErrorString(error); }
FUSEKIT_H inline auto hipGetLastError() { return cudaGetLastError(); }
FUSEKIT_H inline auto hipPeekAtLastError() { return cudaPeekAtLastError(); }

FUSEKIT_H inline auto hipDriverGetVersion(int* version) { return cudaDriverGetVersion(version); }
FUSEKIT_H inline auto hipRuntimeGetVersion(int* version) { return cudaRuntimeGetVersion(version); }
FUSEKIT_H inline auto hipGetDeviceCount(int* count) { return cudaGetDeviceCount(count); }
FUSEKIT_H inline auto hipGetDevice(int* index) { return cudaGetDevice(index); }
FUSEKIT_H inline auto hipSetDevice(int index) { return cudaSetDevice(index); }
FUSEKIT_H inline auto hipGetDeviceProperties(hipDeviceProp_t* properties, int index) {
    return cudaGetDeviceProperties(properties, index);
}
FUSEKIT_H inline auto hipDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int index) {
    return cudaDeviceGetAttribute(value, attribute, index);
}
FUSEKIT_H inline auto hipDeviceSynchronize() { return cudaDeviceSynchronize(); }

FUSEKIT_H inline auto hipMalloc(void** memory, std::size_t bytes) { return cudaMalloc(memory, bytes); }
FUSEKIT_H inline auto hipMallocAsync(void** memory, std::size_t bytes, hipStream_t stream) {
    return cudaMallocAsync(memory, bytes, stream);
}
FUSEKIT_H inline auto hipFreeAsync(void* memory, hipStream_t stream) { return cudaFreeAsync(memory, stream); }
FUSEKIT_H inline auto hipFree(void* memory) { return cudaFree(memory); }
FUSEKIT_H inline auto hipMemGetInfo(std::size_t* free, std::size_t* total) { return cudaMemGetInfo(free, total); }
FUSEKIT_H inline auto hipMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpy(to, from, bytes, kind);
}
FUSEKIT_H inline auto hipMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind,
                                     hipStream_t stream) {
    return cudaMemcpyAsync(to, from, bytes, kind, stream);
}
FUSEKIT_H inline auto hipMemset(void* memory, int value, std::size_t bytes) { return cudaMemset(memory, value, bytes); }
FUSEKIT_H inline auto hipMemsetAsync(void* memory, int value, std::size_t bytes, hipStream_t stream) {
    return cudaMemsetAsync(memory, value, bytes, stream);
}
FUSEKIT_H inline auto hipPointerGetAttributes(hipPointerAttribute_t* attributes, void const* pointer) {
    return cudaPointerGetAttributes(attributes, pointer);
}

FUSEKIT_H inline auto hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
    return cudaStreamCreateWithFlags(stream, flags);
}
FUSEKIT_H inline auto hipStreamDestroy(hipStream_t stream) { return cudaStreamDestroy(stream); }
FUSEKIT_H inline auto hipStreamSynchronize(hipStream_t stream) { return cudaStreamSynchronize(stream); }
FUSEKIT_H inline auto hipStreamGetFlags(hipStream_t stream, unsigned* flags) {
    return cudaStreamGetFlags(stream, flags);
}
FUSEKIT_H inline auto hipStreamBeginCapture(hipStream_t stream, cudaStreamCaptureMode mode) {
    return cudaStreamBeginCapture(stream, mode);
}
FUSEKIT_H inline auto hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
    return cudaStreamEndCapture(stream, graph);
}
FUSEKIT_H inline auto hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
    return cudaStreamIsCapturing(stream, status);
}

FUSEKIT_H inline auto hipGraphInstantiate(hipGraphExec_t* executable, hipGraph_t graph, void*, char*, std::size_t) {
    return cudaGraphInstantiate(executable, graph, 0);
}
FUSEKIT_H inline auto hipGraphLaunch(hipGraphExec_t executable, hipStream_t stream) {
    return cudaGraphLaunch(executable, stream);
}
FUSEKIT_H inline auto hipGraphDestroy(hipGraph_t graph) { return cudaGraphDestroy(graph); }
FUSEKIT_H inline auto hipGraphExecDestroy(hipGraphExec_t executable) { return cudaGraphExecDestroy(executable); }

FUSEKIT_H inline auto hipEventCreate(hipEvent_t* event) { return cudaEventCreate(event); }
FUSEKIT_H inline auto hipEventDestroy(hipEvent_t event) { return cudaEventDestroy(event); }
FUSEKIT_H inline auto hipEventRecord(hipEvent_t event, hipStream_t stream) { return cudaEventRecord(event, stream); }
FUSEKIT_H inline auto hipEventSynchronize(hipEvent_t event) { return cudaEventSynchronize(event); }
FUSEKIT_H inline auto hipEventElapsedTime(float* milliseconds, hipEvent_t begin, hipEvent_t end) {
    return cudaEventElapsedTime(milliseconds, begin, end);
}

template <class Kernel>
FUSEKIT_H auto hipLaunchKernel(Kernel* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                               hipStream_t stream) {
    return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
template <class Kernel>
FUSEKIT_H auto hipLaunchCooperativeKernel(Kernel* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                          hipStream_t stream) {
    return cudaLaunchCooperativeKernel(kernel, grid, block, arguments, shared, stream);
}
inline constexpr auto hipFuncAttributeMaxDynamicSharedMemorySize = cudaFuncAttributeMaxDynamicSharedMemorySize;
FUSEKIT_H inline auto hipFuncSetAttribute(void const* kernel, cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute(kernel, attribute, value);
}
FUSEKIT_H inline auto hipFuncGetAttributes(hipFuncAttributes* attributes, void const* kernel) {
    return cudaFuncGetAttributes(attributes, kernel);
}

}  // namespace fusekit::hip

#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
