// SPDX-License-Identifier: MIT
#pragma once

#include <hip/hip_runtime.h>

#include <atomic>

namespace hip_on_cpu {

/// Called at the start of every runtime function: counts the call. Returns the error that fail_next() or fail_always()
/// set, hipErrorNoDevice if there are no devices, otherwise hipSuccess.
hipError_t enter(char const* function);

/// Called at the end of every runtime function: stores an error for hipGetLastError(), and returns it.
hipError_t leave(hipError_t error);

int device_count();
/// Current device of the calling thread.
int current_device();

extern std::atomic<long> objects;  // number of existing allocations, streams, events and graphs

}  // namespace hip_on_cpu

/// Returns early from a runtime function if enter() returns an error.
#define HIP_ON_CPU_ENTER() \
    if (hipError_t const early = hip_on_cpu::enter(__func__); early != hipSuccess) return hip_on_cpu::leave(early)
