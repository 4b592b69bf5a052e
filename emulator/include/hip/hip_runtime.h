// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include "hip_on_cpu/amd.hpp"
#include "hip_on_cpu/cluster.hpp"
#include "hip_on_cpu/kernel.hpp"
#include "hip_on_cpu/sm80.hpp"
#include "hip_on_cpu/sm90a.hpp"

/// The part of HIP's runtime API that a kernel library needs, on the CPU, for any C++20 compiler. Names and numbers
/// are HIP's. Calls are synchronous, except on non-blocking streams, whose work runs when a call synchronizes with the
/// stream.

#define HIP_ON_CPU 1

enum [[nodiscard]] hipError_t {
    hipSuccess = 0,
    hipErrorInvalidValue = 1,
    hipErrorOutOfMemory = 2,
    hipErrorInvalidConfiguration = 9,
    hipErrorInsufficientDriver = 35,
    hipErrorInvalidDeviceFunction = 98,
    hipErrorNoDevice = 100,
    hipErrorInvalidDevice = 101,
    hipErrorNoBinaryForGpu = 209,
    hipErrorInvalidHandle = 400,
    hipErrorNotReady = 600,
    hipErrorIllegalAddress = 700,
    hipErrorLaunchFailure = 719,
    hipErrorCooperativeLaunchTooLarge = 720,
    hipErrorNotSupported = 801,
    hipErrorStreamCaptureUnsupported = 900,
    hipErrorStreamCaptureInvalidated = 901,
    hipErrorUnknown = 999
};

char const* hipGetErrorName(hipError_t error);
char const* hipGetErrorString(hipError_t error);
/// Returns and clears the thread's last error.
hipError_t hipGetLastError();
hipError_t hipPeekAtLastError();

// Devices

struct hipDeviceProp_t {
    char name[256];
    char gcnArchName[256];
    std::size_t totalGlobalMem, sharedMemPerBlock;
    int warpSize, maxThreadsPerBlock, multiProcessorCount, major, minor, l2CacheSize;
    int clockRate, memoryClockRate, memoryBusWidth;  // kHz, kHz, bits
    int pageableMemoryAccess;
};
enum hipDeviceAttribute_t {
    hipDeviceAttributeClockRate,
    hipDeviceAttributeComputeCapabilityMajor,
    hipDeviceAttributeComputeCapabilityMinor,
    hipDeviceAttributeL2CacheSize,
    hipDeviceAttributeMaxSharedMemoryPerBlock,
    hipDeviceAttributeMaxThreadsPerBlock,
    hipDeviceAttributeMemoryBusWidth,
    hipDeviceAttributeMemoryClockRate,
    hipDeviceAttributeMemoryPoolsSupported,
    hipDeviceAttributeMultiprocessorCount,
    hipDeviceAttributeWarpSize
};
hipError_t hipGetDeviceCount(int* count);
hipError_t hipGetDevice(int* device);
hipError_t hipSetDevice(int device);
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device);
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device);
hipError_t hipDeviceSynchronize();
hipError_t hipDriverGetVersion(int* version);
hipError_t hipRuntimeGetVersion(int* version);

// Streams and events

struct hipStream;
using hipStream_t = hipStream*;
struct hipEvent;
using hipEvent_t = hipEvent*;

inline constexpr unsigned hipStreamDefault = 0, hipStreamNonBlocking = 1;
inline constexpr unsigned hipEventDefault = 0, hipEventDisableTiming = 2;

hipError_t hipStreamCreate(hipStream_t* stream);
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags);
hipError_t hipStreamGetFlags(hipStream_t stream, unsigned* flags);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamQuery(hipStream_t stream);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags = 0);
hipError_t hipEventCreate(hipEvent_t* event);
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream = nullptr);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventQuery(hipEvent_t event);
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop);

// Memory

enum hipMemcpyKind {
    hipMemcpyHostToHost,
    hipMemcpyHostToDevice,
    hipMemcpyDeviceToHost,
    hipMemcpyDeviceToDevice,
    hipMemcpyDefault
};
enum hipMemoryType { hipMemoryTypeUnregistered, hipMemoryTypeHost, hipMemoryTypeDevice, hipMemoryTypeManaged };
struct hipPointerAttribute_t {
    hipMemoryType type;
    int device;
    void* devicePointer;
    void* hostPointer;
    int isManaged;
    unsigned allocationFlags;
};
hipError_t hipMalloc(void** memory, std::size_t bytes);
template <class T>
hipError_t hipMalloc(T** memory, std::size_t bytes) {
    return hipMalloc(reinterpret_cast<void**>(memory), bytes);
}
hipError_t hipFree(void* memory);
/// hipMallocAsync allocates immediately; hipFreeAsync frees in stream order.
hipError_t hipMallocAsync(void** memory, std::size_t bytes, hipStream_t stream);
hipError_t hipFreeAsync(void* memory, hipStream_t stream);
hipError_t hipHostMalloc(void** memory, std::size_t bytes, unsigned flags = 0);
hipError_t hipHostFree(void* memory);
hipError_t hipMemcpy(void* to, void const* from, std::size_t bytes, hipMemcpyKind kind);
hipError_t hipMemcpyAsync(void* to, void const* from, std::size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream = nullptr);
hipError_t hipMemset(void* memory, int value, std::size_t bytes);
hipError_t hipMemsetAsync(void* memory, int value, std::size_t bytes, hipStream_t stream = nullptr);
hipError_t hipMemGetInfo(std::size_t* free, std::size_t* total);
hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, void const* memory);

// Graphs

struct hipGraph;
using hipGraph_t = hipGraph*;
struct hipGraphExec;
using hipGraphExec_t = hipGraphExec*;
struct hipGraphNode;
using hipGraphNode_t = hipGraphNode*;
enum hipStreamCaptureMode { hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal, hipStreamCaptureModeRelaxed };
enum hipStreamCaptureStatus {
    hipStreamCaptureStatusNone,
    hipStreamCaptureStatusActive,
    hipStreamCaptureStatusInvalidated
};
hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph);
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status);
hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* nodes, std::size_t* count);
hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* error_node, char* log,
                               std::size_t log_bytes);
hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream);
hipError_t hipGraphExecDestroy(hipGraphExec_t exec);
hipError_t hipGraphDestroy(hipGraph_t graph);

// Launches

struct hipFuncAttributes {
    int maxThreadsPerBlock, numRegs;
    std::size_t sharedSizeBytes, localSizeBytes;
};
inline hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, void const*) {
    *attributes = {1024, 0, 0, 0};
    return hipSuccess;
}
enum hipFuncAttribute { hipFuncAttributeMaxDynamicSharedMemorySize = 8 };
/// Sets the maximum dynamic shared memory of a kernel to `value` bytes, at most 227 KB; 48 KB by default.
hipError_t hipFuncSetAttribute(void const* kernel, hipFuncAttribute attribute, int value);

namespace hip_on_cpu {

/// Returns `bytes` bytes of dynamic shared memory of a launch, or more than any launch may have if they exceed the
/// kernel's limit.
std::size_t checked_shared_bytes(void const* kernel, std::size_t bytes);

/// A kernel with its arguments; every thread of a launch calls run().
struct Call {
    virtual ~Call() = default;
    virtual void run() const = 0;
};

/// Launches a kernel and deletes `call` afterwards. `at_once`: true for a cooperative launch.
hipError_t launch(Call const* call, dim3 grid, dim3 block, std::size_t shared_bytes, hipStream_t stream, bool at_once);

template <class... Parameters>
Call const* copy_call(void (*kernel)(Parameters...), void** arguments) {
    struct Copy final : Call {
        void (*kernel)(Parameters...);
        std::tuple<Parameters...> arguments;

        Copy(void (*kernel)(Parameters...), std::tuple<Parameters...> const& arguments)
            : kernel(kernel), arguments(arguments) {}
        void run() const override { std::apply(kernel, arguments); }
    };
    return [&]<std::size_t... Nth>(std::index_sequence<Nth...>) {
        return new Copy(kernel, std::tuple<Parameters...>(*static_cast<Parameters*>(arguments[Nth])...));
    }(std::index_sequence_for<Parameters...>{});
}

template <class... Parameters>
hipError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                  hipStream_t stream, bool at_once) {
    return launch(copy_call(kernel, arguments), grid, block,
                  checked_shared_bytes(reinterpret_cast<void const*>(kernel), shared_bytes), stream, at_once);
}

/// Launches a kernel in clusters of `cluster` blocks. Returns hipErrorInvalidValue below compute capability 9.0, and
/// hipErrorInvalidConfiguration if `cluster` is not 1 to 8 or does not divide grid.x.
hipError_t launch_clusters(Call const* call, dim3 grid, dim3 block, unsigned cluster, std::size_t shared_bytes,
                           hipStream_t stream);

template <class... Parameters>
hipError_t launch_clusters(void (*kernel)(Parameters...), dim3 grid, dim3 block, unsigned cluster, void** arguments,
                           std::size_t shared_bytes, hipStream_t stream) {
    return launch_clusters(copy_call(kernel, arguments), grid, block, cluster, shared_bytes, stream);
}

/// A kernel of one trivially copyable parameter, as a value without the parameter's type: launches of many kernels are
/// compiled once.
struct AnyKernel {
    void (*kernel)();
    void (*call)(void (*kernel)(), void const* argument);  ///< calls `kernel` with a copy of the argument
    std::size_t bytes;  ///< size of the parameter
};
template <class Parameter>
AnyKernel any_kernel(void (*kernel)(Parameter)) {
    static_assert(std::is_trivially_copyable_v<Parameter> && alignof(Parameter) <= 64);
    return {reinterpret_cast<void (*)()>(kernel),
            [](void (*own)(), void const* argument) {
                reinterpret_cast<void (*)(Parameter)>(own)(*static_cast<Parameter const*>(argument));
            },
            sizeof(Parameter)};
}
/// `arguments` has one pointer.
hipError_t launch_clusters(AnyKernel const& kernel, dim3 grid, dim3 block, unsigned cluster, void** arguments,
                           std::size_t shared_bytes, hipStream_t stream);

}  // namespace hip_on_cpu

/// HIP's declaration; returns hipErrorInvalidDeviceFunction, because a void const* does not tell the kernel's parameter
/// types.
hipError_t hipLaunchKernel(void const* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                           hipStream_t stream);

hipError_t hipLaunchKernel(hip_on_cpu::AnyKernel const& kernel, dim3 grid, dim3 block, void** arguments,
                           std::size_t shared_bytes, hipStream_t stream);
hipError_t hipLaunchCooperativeKernel(hip_on_cpu::AnyKernel const& kernel, dim3 grid, dim3 block, void** arguments,
                                      unsigned shared_bytes, hipStream_t stream);

/// Launches a kernel; `arguments` has one pointer per parameter.
template <class... Parameters>
hipError_t hipLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                           std::size_t shared_bytes, hipStream_t stream) {
    return hip_on_cpu::launch(kernel, grid, block, arguments, shared_bytes, stream, false);
}
template <class... Parameters>
hipError_t hipLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                                      unsigned shared_bytes, hipStream_t stream) {
    return hip_on_cpu::launch(kernel, grid, block, arguments, shared_bytes, stream, true);
}

/// Portable form of kernel<<<grid, block, shared_bytes, stream>>>(arguments...); hipGetLastError() returns its error.
/// Write a kernel with several template arguments as HIP_KERNEL_NAME(kernel<A, B>).
#define HIP_KERNEL_NAME(...) __VA_ARGS__
template <class... Parameters, class... Arguments>
void hipLaunchKernelGGL(void (*kernel)(Parameters...), dim3 grid, dim3 block, unsigned shared_bytes, hipStream_t stream,
                        Arguments... arguments) {
    std::tuple<Parameters...> values(arguments...);
    std::apply(
        [&](auto&... value) {
            void* pointers[] = {&value..., nullptr};
            (void)hipLaunchKernel(kernel, grid, block, pointers, shared_bytes, stream);
        },
        values);
}
