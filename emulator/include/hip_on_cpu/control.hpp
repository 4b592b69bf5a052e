// SPDX-License-Identifier: MIT
#pragma once

#include <hip/hip_runtime.h>

#include <string>

/// What tests may ask for that no real runtime offers.
///
/// Environment: HIP_ON_CPU_WAVE, the lanes of a wave, 32 (the default) or 64; HIP_ON_CPU_ARCH, the architecture
/// that the devices say they are, as "gfx90a" or "sm_80"; HIP_ON_CPU_DEVICES, the number of devices, 2 by default.
namespace hip_on_cpu {

/// The next call of the function named, e.g. "hipMalloc", does nothing but return the error.
void fail_next(std::string const& function, hipError_t error);

/// Every call returns the error, as after a kernel has read what it may not, until `hipSuccess` is set here.
void fail_always(hipError_t error);

/// How often the function named has been called, by any thread.
long calls(std::string const& function);

/// Allocations, streams, events and graphs that exist.
long live_objects();

/// The number of devices from now on.
void set_devices(int count);

}  // namespace hip_on_cpu
