// SPDX-License-Identifier: MIT
#pragma once

#include <hip/hip_runtime.h>

#include <string>

/// Controls for tests, beyond HIP's API.
///
/// Environment: HIP_ON_CPU_WAVE, the wave size, 32 (default) or 64; HIP_ON_CPU_ARCH, the architecture that devices
/// report, as "gfx90a" or "sm_80"; HIP_ON_CPU_DEVICES, the number of devices, default 2.
namespace hip_on_cpu {

/// Makes the next call of the function with this name, such as "hipMalloc", return `error` without any effect.
void fail_next(std::string const& function, hipError_t error);

/// Makes every call return `error`, as after an invalid access by a kernel, until it is called with hipSuccess.
void fail_always(hipError_t error);

/// Number of calls of the function with this name so far, by all threads.
long calls(std::string const& function);

/// Number of existing allocations, streams, events and graphs.
long live_objects();

/// Sets the number of devices, as HIP_ON_CPU_DEVICES does.
void set_devices(int count);

}  // namespace hip_on_cpu
