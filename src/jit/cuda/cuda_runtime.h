// SPDX-License-Identifier: MIT
#pragma once

/// The part of CUDA's runtime API that the HIP backend uses, declared without a toolkit, for three compilers: the
/// host's C++ compiler, for which driver.cpp implements it with the driver (libcuda, loaded at run time), NVRTC, which
/// has the types and qualifiers, and hipRTC, which has the qualifiers (device/hip/). The latter call no function.
/// Names, numbers and layouts are CUDA's: CUDA Runtime API and CUDA Driver API reference manuals. The functions are in
/// a namespace, so that a program may also link CUDA's runtime.

#include <cstddef>
#include <cstdint>

#if !defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)

#define CUDART_VERSION 12050

#if !defined(__CUDACC__) || !defined(__CUDA_ARCH_LIST__)
#error "compile with -D__CUDACC__ -D__CUDA_ARCH_LIST__=900: nvcc's host pass is imitated"
#endif

#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned the_x = 1, unsigned the_y = 1, unsigned the_z = 1) : x(the_x), y(the_y), z(the_z) {}
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct uint3 {
    unsigned x, y, z;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

/// Device functions that templates of the backend name. Host code does not call them: they are not defined.
inline constexpr int warpSize = 32;
extern uint3 const threadIdx, blockIdx;
extern dim3 const blockDim, gridDim;
void __syncthreads();
void __syncwarp(unsigned mask = ~0u);
void __threadfence();
void __threadfence_block();
std::size_t __cvta_generic_to_shared(void const*);
void* __cvta_shared_to_generic(std::size_t);
template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32);
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32);
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned lanes, int width = 32);
template <class T>
T __ldcg(T const*);
template <class T>
T __ldcs(T const*);
template <class T>
void __stcs(T*, T);
float __uint_as_float(unsigned);
unsigned __float_as_uint(float);
int __popcll(unsigned long long);
template <class T>
T atomicAdd(T*, T);
template <class T>
T atomicMax(T*, T);

#endif
#if !defined(__CUDACC_RTC__)

namespace fusekit::jit::driver {

using cudaError_t = int;
inline constexpr int cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2,
                     cudaErrorInvalidConfiguration = 9, cudaErrorInsufficientDriver = 35,
                     cudaErrorInvalidDeviceFunction = 98, cudaErrorNoDevice = 100, cudaErrorInvalidDevice = 101,
                     cudaErrorNoKernelImageForDevice = 209, cudaErrorIllegalAddress = 700, cudaErrorLaunchFailure = 719,
                     cudaErrorNotSupported = 801, cudaErrorStreamCaptureUnsupported = 900;

enum cudaDeviceAttr {
    cudaDevAttrClockRate = 13,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrMemoryPoolsSupported = 115
};
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone,
    cudaStreamCaptureStatusActive,
    cudaStreamCaptureStatusInvalidated
};
enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal,
    cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributeNonPortableClusterSizeAllowed = 14
};
enum cudaLaunchAttributeID {
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeClusterDimension = 4,
    cudaLaunchAttributeProgrammaticStreamSerialization = 6
};
enum cudaDriverEntryPointQueryResult { cudaDriverEntryPointSuccess, cudaDriverEntryPointSymbolNotFound };
inline constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
inline constexpr unsigned long long cudaEnableDefault = 0;

struct Stream;
struct Event;
struct Graph;
struct GraphExec;
using cudaStream_t = Stream*;
using cudaEvent_t = Event*;
using cudaGraph_t = Graph*;
using cudaGraphExec_t = GraphExec*;

/// Unlike CUDA's struct, it has only the members that the backend reads.
struct cudaDeviceProp {
    char name[256];
    int major, minor, multiProcessorCount, l2CacheSize, pageableMemoryAccess;
};
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void* devicePointer;
    void* hostPointer;
};
struct cudaFuncAttributes {
    int maxThreadsPerBlock;
};

/// CUlaunchAttribute.
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    alignas(8) union {
        struct {
            unsigned x, y, z;
        } clusterDim;
        int cooperative;
        int programmaticStreamSerializationAllowed;
        char pad[64];
    } val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    std::size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute* attrs;
    unsigned numAttrs;
};

#else

namespace fusekit::jit::driver {

#endif

char const* cudaGetErrorName(cudaError_t error);
char const* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaMalloc(void** memory, std::size_t bytes);
cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaFree(void* memory);
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, void const* memory);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);
/// Kernels are addresses of a KernelEntry (kernel_entry.hpp), not of a function.
cudaError_t cudaLaunchKernel(void const* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                             cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel(void const* kernel, dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared_bytes, cudaStream_t stream);
#if !defined(__CUDACC_RTC__)
template <class Params>
cudaError_t cudaLaunchKernel(void (*kernel)(Params), dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                             cudaStream_t stream) {
    return cudaLaunchKernel(reinterpret_cast<void const*>(kernel), grid, block, arguments, shared_bytes, stream);
}
template <class Params>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Params), dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared_bytes, cudaStream_t stream) {
    return cudaLaunchCooperativeKernel(reinterpret_cast<void const*>(kernel), grid, block, arguments, shared_bytes,
                                       stream);
}
#endif
cudaError_t cudaLaunchKernelExC(cudaLaunchConfig_t const* config, void const* kernel, void** arguments);
cudaError_t cudaFuncSetAttribute(void const* kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void const* kernel);
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, void const* kernel, cudaLaunchConfig_t const* config);
cudaError_t cudaGetDriverEntryPointByVersion(char const* name, void** function, unsigned version,
                                             unsigned long long flags, cudaDriverEntryPointQueryResult* result);

}  // namespace fusekit::jit::driver

using namespace fusekit::jit::driver;
