// SPDX-License-Identifier: MIT
//
// The functions of cuda/cuda_runtime.h over NVIDIA's driver. Devices' primary contexts are used, as by CUDA's runtime,
// so that pointers and streams of both are the same.
#include "driver.hpp"

#include <mutex>
#include <type_traits>

#include "loaded_library.hpp"

namespace fusekit::jit::driver {

namespace {

using Device = int;
using Context = void*;
using Address = unsigned long long;

/// CUlaunchConfig.
struct LaunchConfig {
    unsigned grid[3], block[3], shared_bytes;
    cudaStream_t stream;
    cudaLaunchAttribute* attributes;
    unsigned count;
};

/// The driver's functions, under its names of version 12.
struct Driver {
#define FUSEKIT_DRIVER_FUNCTIONS(F)                                                             \
    F(cuInit, "cuInit", int(unsigned))                                                          \
    F(cuDriverGetVersion, "cuDriverGetVersion", int(int*))                                      \
    F(cuDeviceGetCount, "cuDeviceGetCount", int(int*))                                          \
    F(cuDeviceGet, "cuDeviceGet", int(Device*, int))                                            \
    F(cuDeviceGetName, "cuDeviceGetName", int(char*, int, Device))                              \
    F(cuDeviceGetAttribute, "cuDeviceGetAttribute", int(int*, int, Device))                     \
    F(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", int(Context*, Device))              \
    F(cuCtxSetCurrent, "cuCtxSetCurrent", int(Context))                                         \
    F(cuCtxGetCurrent, "cuCtxGetCurrent", int(Context*))                                        \
    F(cuCtxGetDevice, "cuCtxGetDevice", int(Device*))                                           \
    F(cuCtxSynchronize, "cuCtxSynchronize", int())                                              \
    F(cuMemAlloc, "cuMemAlloc_v2", int(void**, std::size_t))                                    \
    F(cuMemFree, "cuMemFree_v2", int(void*))                                                    \
    F(cuMemGetInfo, "cuMemGetInfo_v2", int(std::size_t*, std::size_t*))                         \
    F(cuMemAllocAsync, "cuMemAllocAsync", int(void**, std::size_t, cudaStream_t))               \
    F(cuMemFreeAsync, "cuMemFreeAsync", int(void*, cudaStream_t))                               \
    F(cuMemcpy, "cuMemcpy", int(void*, void const*, std::size_t))                               \
    F(cuMemcpyAsync, "cuMemcpyAsync", int(void*, void const*, std::size_t, cudaStream_t))       \
    F(cuMemsetD8, "cuMemsetD8_v2", int(void*, unsigned char, std::size_t))                      \
    F(cuMemsetD8Async, "cuMemsetD8Async", int(void*, unsigned char, std::size_t, cudaStream_t)) \
    F(cuPointerGetAttribute, "cuPointerGetAttribute", int(void*, int, void const*))             \
    F(cuStreamCreate, "cuStreamCreate", int(cudaStream_t*, unsigned))                           \
    F(cuStreamDestroy, "cuStreamDestroy_v2", int(cudaStream_t))                                 \
    F(cuStreamSynchronize, "cuStreamSynchronize", int(cudaStream_t))                            \
    F(cuStreamGetFlags, "cuStreamGetFlags", int(cudaStream_t, unsigned*))                       \
    F(cuStreamIsCapturing, "cuStreamIsCapturing", int(cudaStream_t, int*))                      \
    F(cuLaunchKernelEx, "cuLaunchKernelEx", int(LaunchConfig const*, void*, void**, void**))    \
    F(cuModuleLoadData, "cuModuleLoadData", int(void**, void const*))                           \
    F(cuModuleGetFunction, "cuModuleGetFunction", int(void**, void*, char const*))              \
    F(cuFuncSetAttribute, "cuFuncSetAttribute", int(void*, int, int))                           \
    F(cuEventCreate, "cuEventCreate", int(cudaEvent_t*, unsigned))                              \
    F(cuEventDestroy, "cuEventDestroy_v2", int(cudaEvent_t))                                    \
    F(cuEventRecord, "cuEventRecord", int(cudaEvent_t, cudaStream_t))                           \
    F(cuEventSynchronize, "cuEventSynchronize", int(cudaEvent_t))                               \
    F(cuEventElapsedTime, "cuEventElapsedTime", int(float*, cudaEvent_t, cudaEvent_t))          \
    F(cuGetErrorName, "cuGetErrorName", int(int, char const**))                                 \
    F(cuGetErrorString, "cuGetErrorString", int(int, char const**))
#define FUSEKIT_POINTER(name, symbol, ...)                 \
    using name##_type = std::type_identity_t<__VA_ARGS__>; \
    name##_type* name = nullptr;
    FUSEKIT_DRIVER_FUNCTIONS(FUSEKIT_POINTER)
#undef FUSEKIT_POINTER

    LoadedLibrary library{{"libcuda.so.1", "libcuda.so"}};
    int status = cudaErrorNoDevice;  ///< of the initialization

    Driver() {
        if (!library) return;
        bool complete = true;
#define FUSEKIT_FIND(name, symbol, ...) complete = library.find(symbol, name) && complete;
        FUSEKIT_DRIVER_FUNCTIONS(FUSEKIT_FIND)
#undef FUSEKIT_FIND
        status = complete ? cuInit(0) : cudaErrorInsufficientDriver;
    }
};
#undef FUSEKIT_DRIVER_FUNCTIONS

Driver const& driver() {
    static Driver const* const own = new Driver;
    return *own;
}

thread_local cudaError_t last_error = cudaSuccess;

/// Stores an error for cudaGetLastError().
cudaError_t noted(cudaError_t status) {
    if (status != cudaSuccess) last_error = status;
    return status;
}

/// Calls f(driver()), in the primary context of the current device, or device 0, if `in_context`.
template <class F>
cudaError_t with_driver(F const& f, bool in_context = true) {
    Driver const& of = driver();
    if (of.status != cudaSuccess) return noted(of.status);
    Context current = nullptr;
    if (in_context && of.cuCtxGetCurrent(&current) == cudaSuccess && !current)
        if (cudaError_t const status = cudaSetDevice(0); status != cudaSuccess) return status;
    return noted(f(of));
}

constexpr int most_devices = 64;
Context context_of(int device) {
    static std::mutex mutex;
    static Context contexts[most_devices] = {};
    std::lock_guard const lock(mutex);
    if (!contexts[device]) {
        Device handle = 0;
        if (driver().cuDeviceGet(&handle, device) != cudaSuccess ||
            driver().cuDevicePrimaryCtxRetain(&contexts[device], handle) != cudaSuccess)
            contexts[device] = nullptr;
    }
    return contexts[device];
}

}  // namespace

thread_local Kernel current_kernel;

Kernel load_kernel(std::string const& code, std::string const& name, unsigned dynamic_shared_bytes, std::string& why) {
    void* function = nullptr;
    cudaError_t const status = with_driver([&](Driver const& of) {
        void* module = nullptr;
        constexpr int max_dynamic_shared_size = 8;
        int result = of.cuModuleLoadData(&module, code.data());
        if (result == cudaSuccess) result = of.cuModuleGetFunction(&function, module, name.c_str());
        if (result == cudaSuccess && dynamic_shared_bytes > 0)
            result = of.cuFuncSetAttribute(function, max_dynamic_shared_size, static_cast<int>(dynamic_shared_bytes));
        return result;
    });
    if (status == cudaSuccess) return {function};
    why = std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status);
    last_error = cudaSuccess;
    return {};
}

bool is_capturing(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(stream, &status) == cudaSuccess && status != cudaStreamCaptureStatusNone;
}

char const* cudaGetErrorName(cudaError_t error) {
    char const* text = nullptr;
    if (error == cudaErrorNoDevice) return "cudaErrorNoDevice";
    if (driver().status != cudaSuccess || driver().cuGetErrorName(error, &text) != cudaSuccess || !text)
        return "unknown error";
    return text;
}
char const* cudaGetErrorString(cudaError_t error) {
    char const* text = nullptr;
    if (error == cudaErrorNoDevice) return "no GPU, or no driver libcuda.so.1";
    if (driver().status != cudaSuccess || driver().cuGetErrorString(error, &text) != cudaSuccess || !text)
        return "unknown error";
    return text;
}
cudaError_t cudaGetLastError() {
    cudaError_t const last = last_error;
    last_error = cudaSuccess;
    return last;
}
cudaError_t cudaPeekAtLastError() { return last_error; }

cudaError_t cudaDriverGetVersion(int* version) {
    return with_driver([&](Driver const& of) { return of.cuDriverGetVersion(version); }, false);
}
cudaError_t cudaRuntimeGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
    *count = 0;
    return with_driver([&](Driver const& of) { return of.cuDeviceGetCount(count); }, false);
}
cudaError_t cudaGetDevice(int* device) {
    return with_driver(
        [&](Driver const& of) {
            Context current = nullptr;
            *device = 0;
            if (int const status = of.cuCtxGetCurrent(&current); status != cudaSuccess || !current) return status;
            return of.cuCtxGetDevice(device);
        },
        false);
}
cudaError_t cudaSetDevice(int device) {
    if (driver().status != cudaSuccess) return noted(driver().status);
    if (device < 0 || device >= most_devices) return noted(cudaErrorInvalidDevice);
    Context const context = context_of(device);
    return noted(context ? driver().cuCtxSetCurrent(context) : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    return with_driver([&](Driver const& of) { return of.cuDeviceGetAttribute(value, attribute, device); }, false);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    constexpr int processors = 16, l2_bytes = 38, major = 75, minor = 76, pageable_access = 88;
    return with_driver(
        [&](Driver const& of) {
            *properties = {};
            int status = of.cuDeviceGetName(properties->name, sizeof properties->name, device);
            auto const read = [&](int& value, int attribute) {
                if (status == cudaSuccess) status = of.cuDeviceGetAttribute(&value, attribute, device);
            };
            read(properties->major, major), read(properties->minor, minor);
            read(properties->multiProcessorCount, processors), read(properties->l2CacheSize, l2_bytes);
            read(properties->pageableMemoryAccess, pageable_access);
            return status;
        },
        false);
}
cudaError_t cudaDeviceSynchronize() {
    return with_driver([](Driver const& of) { return of.cuCtxSynchronize(); });
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
    *memory = nullptr;
    if (bytes == 0) return cudaSuccess;
    return with_driver([&](Driver const& of) { return of.cuMemAlloc(memory, bytes); });
}
cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t stream) {
    *memory = nullptr;
    if (bytes == 0) return cudaSuccess;
    return with_driver([&](Driver const& of) { return of.cuMemAllocAsync(memory, bytes, stream); });
}
cudaError_t cudaFree(void* memory) {
    if (!memory) return cudaSuccess;
    return with_driver([&](Driver const& of) { return of.cuMemFree(memory); });
}
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
    if (!memory) return cudaSuccess;
    return with_driver([&](Driver const& of) { return of.cuMemFreeAsync(memory, stream); });
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    return with_driver([&](Driver const& of) { return of.cuMemGetInfo(free, total); });
}
cudaError_t cudaMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind) {
    return with_driver([&](Driver const& of) { return of.cuMemcpy(to, from, bytes); });
}
cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
    return with_driver([&](Driver const& of) { return of.cuMemcpyAsync(to, from, bytes, stream); });
}
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
    auto const byte = static_cast<unsigned char>(value);
    return with_driver([&](Driver const& of) { return of.cuMemsetD8(memory, byte, bytes); });
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
    auto const byte = static_cast<unsigned char>(value);
    return with_driver([&](Driver const& of) { return of.cuMemsetD8Async(memory, byte, bytes, stream); });
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, void const* memory) {
    constexpr int memory_type = 2, device_pointer = 3, is_managed = 8, device_ordinal = 9, of_host = 1;
    return with_driver([&](Driver const& of) {
        *attributes = {};
        unsigned type = 0, managed = 0;
        if (of.cuPointerGetAttribute(&type, memory_type, memory) != cudaSuccess) return cudaSuccess;  // unregistered
        of.cuPointerGetAttribute(&managed, is_managed, memory);
        of.cuPointerGetAttribute(&attributes->device, device_ordinal, memory);
        of.cuPointerGetAttribute(&attributes->devicePointer, device_pointer, memory);
        attributes->type = managed           ? cudaMemoryTypeManaged
                           : type == of_host ? cudaMemoryTypeHost
                                             : cudaMemoryTypeDevice;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    return with_driver([&](Driver const& of) { return of.cuStreamCreate(stream, flags); });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return with_driver([&](Driver const& of) { return of.cuStreamDestroy(stream); });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return with_driver([&](Driver const& of) { return of.cuStreamSynchronize(stream); });
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
    return with_driver([&](Driver const& of) { return of.cuStreamGetFlags(stream, flags); });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    return with_driver([&](Driver const& of) {
        int value = 0;
        int const result = of.cuStreamIsCapturing(stream, &value);
        *status = static_cast<cudaStreamCaptureStatus>(value);
        return result;
    });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return with_driver([&](Driver const& of) { return of.cuEventCreate(event, 0); });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return with_driver([&](Driver const& of) { return of.cuEventDestroy(event); });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return with_driver([&](Driver const& of) { return of.cuEventRecord(event, stream); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return with_driver([&](Driver const& of) { return of.cuEventSynchronize(event); });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    return with_driver([&](Driver const& of) { return of.cuEventElapsedTime(milliseconds, begin, end); });
}

cudaError_t cudaLaunchKernelExC(cudaLaunchConfig_t const* config, void const*, void** arguments) {
    if (!current_kernel) return noted(cudaErrorInvalidDeviceFunction);
    std::int64_t const shared_bytes =
        static_cast<std::int64_t>(config->dynamicSmemBytes) + current_kernel.more_shared_bytes;
    LaunchConfig const own{{config->gridDim.x, config->gridDim.y, config->gridDim.z},
                           {config->blockDim.x, config->blockDim.y, config->blockDim.z},
                           static_cast<unsigned>(shared_bytes < 0 ? 0 : shared_bytes),
                           config->stream,
                           config->attrs,
                           config->numAttrs};
    return with_driver(
        [&](Driver const& of) { return of.cuLaunchKernelEx(&own, current_kernel.function, arguments, nullptr); });
}
cudaError_t cudaLaunchKernel(void const* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                             cudaStream_t stream) {
    cudaLaunchConfig_t const config{grid, block, shared_bytes, stream, nullptr, 0};
    return cudaLaunchKernelExC(&config, kernel, arguments);
}
cudaError_t cudaLaunchCooperativeKernel(void const* kernel, dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared_bytes, cudaStream_t stream) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t const config{grid, block, shared_bytes, stream, &attribute, 1};
    return cudaLaunchKernelExC(&config, kernel, arguments);
}
// Kernels are compiled after they are chosen: each is assumed to fit, and load_kernel() sets its limits.
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void const*) {
    *attributes = {1024};
    return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(void const*, cudaFuncAttribute attribute, int) {
    return attribute == cudaFuncAttributeMaxDynamicSharedMemorySize ? cudaSuccess : noted(cudaErrorNotSupported);
}
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, void const*, cudaLaunchConfig_t const*) {
    *clusters = 0;
    return noted(cudaErrorNotSupported);
}
cudaError_t cudaGetDriverEntryPointByVersion(char const* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
    *function = nullptr;
    bool const found = driver().library.find(name, *reinterpret_cast<void (**)()>(function));
    *result = found ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}

}  // namespace fusekit::jit::driver
