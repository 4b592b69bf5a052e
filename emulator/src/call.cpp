// SPDX-License-Identifier: MIT
#include "call.hpp"

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include "hip_on_cpu/control.hpp"

namespace hip_on_cpu {

std::atomic<long> objects = 0;

namespace {

thread_local int device = 0;
thread_local hipError_t last = hipSuccess;

std::atomic<hipError_t> always = hipSuccess;

struct Calls {
    std::mutex mutex;
    std::map<std::string, long> count;
    std::map<std::string, hipError_t> failing;
};
Calls& all_calls() {
    static Calls calls;
    return calls;
}

std::atomic<int>& devices() {
    static std::atomic<int> count = [] {
        char const* const text = std::getenv("HIP_ON_CPU_DEVICES");
        return text ? std::atoi(text) : 2;
    }();
    return count;
}

struct Words {
    hipError_t error;
    char const *name, *sentence;
};
constexpr Words words[] = {
    {hipSuccess, "hipSuccess", "no error"},
    {hipErrorInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    {hipErrorOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {hipErrorInvalidConfiguration, "hipErrorInvalidConfiguration", "invalid configuration argument"},
    {hipErrorInsufficientDriver, "hipErrorInsufficientDriver", "driver version is insufficient for runtime version"},
    {hipErrorInvalidDeviceFunction, "hipErrorInvalidDeviceFunction", "invalid device function"},
    {hipErrorNoDevice, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {hipErrorInvalidDevice, "hipErrorInvalidDevice", "invalid device ordinal"},
    {hipErrorNoBinaryForGpu, "hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device"},
    {hipErrorInvalidHandle, "hipErrorInvalidHandle", "invalid resource handle"},
    {hipErrorNotReady, "hipErrorNotReady", "device not ready"},
    {hipErrorIllegalAddress, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    {hipErrorLaunchFailure, "hipErrorLaunchFailure", "unspecified launch failure"},
    {hipErrorCooperativeLaunchTooLarge, "hipErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {hipErrorNotSupported, "hipErrorNotSupported", "operation not supported"},
    {hipErrorStreamCaptureUnsupported, "hipErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {hipErrorStreamCaptureInvalidated, "hipErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
};
constexpr Words unknown = {hipErrorUnknown, "hipErrorUnknown", "unknown error"};

Words const& words_of(hipError_t error) {
    for (Words const& entry : words)
        if (entry.error == error) return entry;
    return unknown;
}

}  // namespace

hipError_t enter(char const* function) {
    Calls& calls = all_calls();
    std::lock_guard const lock(calls.mutex);
    ++calls.count[function];
    if (auto const planned = calls.failing.extract(function)) return planned.mapped();
    if (always != hipSuccess) return always;
    return devices() == 0 ? hipErrorNoDevice : hipSuccess;
}

hipError_t leave(hipError_t error) {
    if (error != hipSuccess && error != hipErrorNotReady) last = error;
    return error;
}

int device_count() { return devices(); }
int current_device() { return device; }

void fail_next(std::string const& function, hipError_t error) {
    std::lock_guard const lock(all_calls().mutex);
    all_calls().failing[function] = error;
}
void fail_always(hipError_t error) {
    always.store(error);
    if (error == hipSuccess) last = hipSuccess;
}
long calls(std::string const& function) {
    std::lock_guard const lock(all_calls().mutex);
    return all_calls().count[function];
}
long live_objects() { return objects; }
void set_devices(int count) { devices() = count; }

}  // namespace hip_on_cpu

using namespace hip_on_cpu;

char const* hipGetErrorName(hipError_t error) { return words_of(error).name; }
char const* hipGetErrorString(hipError_t error) { return words_of(error).sentence; }

hipError_t hipPeekAtLastError() { return always != hipSuccess ? always.load() : last; }
hipError_t hipGetLastError() {
    hipError_t const error = hipPeekAtLastError();
    last = hipSuccess;
    return error;
}

hipError_t hipGetDevice(int* result) {
    HIP_ON_CPU_ENTER();
    *result = device;
    return hipSuccess;
}
hipError_t hipSetDevice(int index) {
    HIP_ON_CPU_ENTER();
    if (index < 0 || index >= device_count()) return leave(hipErrorInvalidDevice);
    device = index;
    return hipSuccess;
}
