// SPDX-License-Identifier: MIT
#pragma once

#include <hip/hip_runtime.h>

#include <atomic>

namespace hip_on_cpu {

/// Entry of every runtime function: counts the call, and returns an injected error, or hipErrorNoDevice without
/// devices.
hipError_t enter(char const* function);

/// Exit of every runtime function: stores an error for hipGetLastError().
hipError_t leave(hipError_t error);

int device_count();
/// Current device of the calling thread.
int current_device();

extern std::atomic<long> objects;  // live objects

}  // namespace hip_on_cpu

/// In a runtime function: returns early if enter() reports an error.
#define HIP_ON_CPU_ENTER() \
    if (hipError_t const early = hip_on_cpu::enter(__func__); early != hipSuccess) return hip_on_cpu::leave(early)
