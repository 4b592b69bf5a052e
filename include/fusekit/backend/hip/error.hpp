// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/platform.hpp"
#include "fusekit/error.hpp"

namespace fusekit::hip {

/// A status as HIP prints it: "hipErrorOutOfMemory, out of memory".
inline Text error_string(hipError_t status) { return Text(hipGetErrorName(status)) + ", " + hipGetErrorString(status); }

/// Takes the error that HIP keeps for the next hipGetLastError, so that it is reported once and no later call of
/// anybody's is blamed for it.
inline void clear_last_error() { static_cast<void>(hipGetLastError()); }

/// Throws Error("hip::Device", "device 0", "hipMalloc", expected, HIP's words) unless `status` is success.
inline void check(hipError_t status, int device, char const* call, char const* expected = "success") {
    if (status == hipSuccess) return;
    clear_last_error();
    raise(Error("hip::Device", "device " + Text::number(device), call, expected, error_string(status)));
}

/// Makes a device the calling thread's current one, and restores the one before.
class DeviceGuard {
public:
    explicit DeviceGuard(int device) {
        check(hipGetDevice(&before), device, "hipGetDevice");
        if (before != device) check(hipSetDevice(device), device, "hipSetDevice", "a device that works");
        other = before != device;
    }
    DeviceGuard(DeviceGuard const&) = delete;
    DeviceGuard& operator=(DeviceGuard const&) = delete;
    ~DeviceGuard() {
        if (other) static_cast<void>(hipSetDevice(before));
    }

private:
    int before = 0;
    bool other = false;
};

}  // namespace fusekit::hip
