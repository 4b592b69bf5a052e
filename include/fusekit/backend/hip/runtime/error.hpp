// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/result.hpp"

namespace fusekit::hip {

/// Text of a status: "hipErrorOutOfMemory, out of memory".
FUSEKIT_H inline Text error_string(hipError_t status) {
    return Text(hipGetErrorName(status)) + ", " + hipGetErrorString(status);
}

/// Clears HIP's last error, so that no later call returns it again.
FUSEKIT_H inline void clear_last_error() { static_cast<void>(hipGetLastError()); }

/// Returns an error unless `status` is success: Error("hip::Device", "device 0", "hipMalloc", expected, HIP's text for
/// the status), for `device` 0 and `call` hipMalloc.
[[nodiscard]] FUSEKIT_H inline Refusal refusal_of(hipError_t status, int device, char const* call,
                                                  char const* expected = "success") {
    if (status == hipSuccess) return {};
    clear_last_error();
    return Error("hip::Device", "device " + Text::number(device), call, expected, error_string(status),
                 static_cast<int>(status));
}
/// Throws the error that refusal_of() returns, if any.
FUSEKIT_H inline void check(hipError_t status, int device, char const* call, char const* expected = "success") {
    if (status != hipSuccess) refusal_of(status, device, call, expected).raise();
}

/// Scope guard that makes `device` the calling thread's current device, and restores the previous one at the end.
class DeviceGuard {
public:
    /// Throws Error, or stores it in `refusal` if that is not null, if HIP cannot select the device.
    FUSEKIT_H explicit DeviceGuard(int device, Refusal* refusal = nullptr) {
        Refusal failed = refusal_of(hipGetDevice(&previous), device, "hipGetDevice");
        if (!failed && previous != device) {
            failed = refusal_of(hipSetDevice(device), device, "hipSetDevice", "a device that works");
            other = !failed;
        }
        if (refusal) *refusal = std::move(failed);
        else failed.raise();
    }
    DeviceGuard(DeviceGuard const&) = delete;
    DeviceGuard& operator=(DeviceGuard const&) = delete;
    FUSEKIT_H ~DeviceGuard() {
        if (other) static_cast<void>(hipSetDevice(previous));
    }

private:
    int previous = 0;
    bool other = false;
};

}  // namespace fusekit::hip
