// SPDX-License-Identifier: MIT
//
// A libcuda.so.1 for machines without a GPU: one H200 whose memory is the host's, and which runs nothing. A launch
// stores its grid in fake_launches; tests read it. With it, tests of the host's code need no GPU.
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace {

int context;
struct Config {
    unsigned grid[3], block[3], shared_bytes;
    void* stream;
    void* attributes;
    unsigned count;
};

}  // namespace

extern "C" {

/// Number of launches; blocks, threads, attributes and bytes of dynamic shared memory of the last one; the limit of
/// dynamic shared memory that was set last.
unsigned fake_launches[6] = {};

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuDeviceGetCount(int* count) { return *count = 1, 0; }
int cuDeviceGet(int* device, int index) { return *device = index, index == 0 ? 0 : 101; }
int cuDeviceGetName(char* name, int size, int) {
    return std::strncpy(name, "Fake H200", static_cast<std::size_t>(size)), 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
    switch (attribute) {
        case 13: *value = 1980000; break;  // kHz
        case 16: *value = 132; break;
        case 36: *value = 3201000; break;
        case 37: *value = 6144; break;  // bits
        case 38: *value = 60 << 20; break;
        case 75: *value = 9; break;
        case 76: *value = 0; break;
        default: *value = 1;
    }
    return 0;
}
int cuDevicePrimaryCtxRetain(void** primary, int) { return *primary = &context, 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuCtxGetCurrent(void** current) { return *current = &context, 0; }
int cuCtxGetDevice(int* device) { return *device = 0, 0; }
int cuCtxSynchronize() { return 0; }
int cuMemAlloc_v2(void** memory, std::size_t bytes) {
    *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    return *memory ? 0 : 2;
}
int cuMemFree_v2(void* memory) { return std::free(memory), 0; }
int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) { return *free = *total = std::size_t{1} << 37, 0; }
int cuMemAllocAsync(void** memory, std::size_t bytes, void*) { return cuMemAlloc_v2(memory, bytes); }
int cuMemFreeAsync(void* memory, void*) { return std::free(memory), 0; }
int cuMemcpy(void* to, void const* from, std::size_t bytes) { return std::memcpy(to, from, bytes), 0; }
int cuMemcpyAsync(void* to, void const* from, std::size_t bytes, void*) { return std::memcpy(to, from, bytes), 0; }
int cuMemsetD8_v2(void* memory, unsigned char value, std::size_t bytes) { return std::memset(memory, value, bytes), 0; }
int cuMemsetD8Async(void* memory, unsigned char value, std::size_t bytes, void*) {
    return std::memset(memory, value, bytes), 0;
}
int cuPointerGetAttribute(void* value, int attribute, void const* memory) {
    unsigned const device = 2;
    unsigned const none = 0;
    if (attribute == 3) std::memcpy(value, &memory, sizeof memory);
    else std::memcpy(value, attribute == 2 ? &device : &none, sizeof device);
    return 0;
}
int cuStreamCreate(void** stream, unsigned) { return *stream = std::malloc(8), 0; }
int cuStreamDestroy_v2(void* stream) { return std::free(stream), 0; }
int cuStreamSynchronize(void*) { return 0; }
int cuStreamGetFlags(void*, unsigned* flags) { return *flags = 0, 0; }
/// A stream with this address is being captured.
int cuStreamIsCapturing(void* stream, int* status) { return *status = stream == reinterpret_cast<void*>(0xca), 0; }
int cuEventCreate(void** event, unsigned) { return *event = std::malloc(8), 0; }
int cuEventDestroy_v2(void* event) { return std::free(event), 0; }
int cuEventRecord(void*, void*) { return 0; }
int cuEventSynchronize(void*) { return 0; }
int cuEventElapsedTime(float* milliseconds, void*, void*) { return *milliseconds = 0.5f, 0; }
int cuLaunchKernelEx(Config const* config, void* function, void** arguments, void**) {
    if (!function || !arguments || !arguments[0]) return 1;
    ++fake_launches[0];
    fake_launches[1] = config->grid[0], fake_launches[2] = config->block[0], fake_launches[3] = config->count;
    fake_launches[4] = config->shared_bytes;
    return 0;
}
int cuModuleLoadData(void** module, void const* data) {
    *module = const_cast<void*>(data);
    return std::memcmp(data, "\177ELF", 4) == 0 ? 0 : 200;
}
int cuModuleGetFunction(void** function, void* module, char const* name) {
    *function = module;
    return name && *name ? 0 : 500;
}
int cuFuncSetAttribute(void*, int attribute, int value) {
    if (attribute == 8) fake_launches[5] = static_cast<unsigned>(value);
    return 0;
}
int cuGetErrorName(int, char const** text) { return *text = "CUDA_ERROR_FAKE", 0; }
int cuGetErrorString(int, char const** text) { return *text = "a fake error", 0; }
int cuTensorMapEncodeTiled(void* map, int, unsigned, void*, void const*, void const*, void const*, void const*, int,
                           int, int, int) {
    return std::memset(map, 1, 128), 0;
}
int cuTensorMapEncodeIm2col(void* map, int, unsigned, void*, void const*, void const*, int const*, int const*, unsigned,
                            unsigned, void const*, int, int, int, int) {
    return std::memset(map, 2, 128), 0;
}
int cuTensorMapReplaceAddress(void*, void*) { return 0; }

}  // extern "C"
