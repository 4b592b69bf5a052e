// SPDX-License-Identifier: MIT
#pragma once

#include <hip/hip_runtime.h>

#include <string>

/// Controls for tests, beyond HIP's API.
///
/// Environment: HIP_ON_CPU_WAVE, the wave size, 32 (default) or 64; HIP_ON_CPU_ARCH, the architecture that devices
/// report, as "gfx90a" or "sm_80"; HIP_ON_CPU_DEVICES, the number of devices, default 2.
namespace hip_on_cpu {

/// Makes the next call of the named function, e.g. "hipMalloc", return the error without effect.
void fail_next(std::string const& function, hipError_t error);

/// Makes every call return the error, as after an invalid access by a kernel, until hipSuccess is set.
void fail_always(hipError_t error);

/// Number of calls of the named function, by any thread.
long calls(std::string const& function);

/// Number of live allocations, streams, events and graphs.
long live_objects();

/// Sets the number of devices.
void set_devices(int count);

}  // namespace hip_on_cpu
