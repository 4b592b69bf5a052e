// SPDX-License-Identifier: MIT
#include <cstdio>

#include "call.hpp"
#include "hip_on_cpu/block.hpp"

using namespace hip_on_cpu;

namespace {

constexpr int processors = 4;
constexpr std::size_t memory_bytes = std::size_t{1} << 36, shared_bytes = 48 << 10;

}  // namespace

hipError_t hipGetDeviceCount(int* count) {
    *count = 0;
    HIP_ON_CPU_ENTER();
    *count = device_count();
    return hipSuccess;
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
    HIP_ON_CPU_ENTER();
    if (device < 0 || device >= device_count()) return leave(hipErrorInvalidDevice);
    *properties = {};
    std::snprintf(properties->name, sizeof properties->name, "CPU, waves of %u", wave_width());
    std::snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "%s", architecture());
    properties->totalGlobalMem = memory_bytes;
    properties->sharedMemPerBlock = shared_bytes;
    properties->warpSize = static_cast<int>(wave_width());
    properties->maxThreadsPerBlock = max_threads;
    properties->multiProcessorCount = processors;
    properties->major = compute_capability() / 10;
    properties->minor = compute_capability() % 10;
    properties->l2CacheSize = 1 << 20;
    properties->clockRate = properties->memoryClockRate = 1000000;
    properties->memoryBusWidth = 64;
    return hipSuccess;
}

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
    HIP_ON_CPU_ENTER();
    if (device < 0 || device >= device_count()) return leave(hipErrorInvalidDevice);
    switch (attribute) {
        case hipDeviceAttributeComputeCapabilityMajor: *value = compute_capability() / 10; break;
        case hipDeviceAttributeComputeCapabilityMinor: *value = compute_capability() % 10; break;
        case hipDeviceAttributeL2CacheSize: *value = 1 << 20; break;
        case hipDeviceAttributeMaxSharedMemoryPerBlock: *value = shared_bytes; break;
        case hipDeviceAttributeMaxThreadsPerBlock: *value = max_threads; break;
        case hipDeviceAttributeMemoryPoolsSupported: *value = 1; break;
        case hipDeviceAttributeMultiprocessorCount: *value = processors; break;
        case hipDeviceAttributeWarpSize: *value = static_cast<int>(wave_width()); break;
        default: return leave(hipErrorInvalidValue);
    }
    return hipSuccess;
}

hipError_t hipDriverGetVersion(int* version) {
    HIP_ON_CPU_ENTER();
    *version = 60000000;
    return hipSuccess;
}
hipError_t hipRuntimeGetVersion(int* version) { return hipDriverGetVersion(version); }
