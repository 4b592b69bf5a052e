// SPDX-License-Identifier: MIT
#pragma once

#include <hip/hip_runtime.h>

#include <atomic>

namespace hip_on_cpu {

/// Begins every function of the runtime: counts the call, and returns an error that a test has asked for, or
/// hipErrorNoDevice where there is none.
hipError_t enter(char const* function);

/// Ends every function of the runtime: keeps an error for hipGetLastError().
hipError_t leave(hipError_t error);

int device_count();
/// The calling thread's.
int current_device();

extern std::atomic<long> objects;  // those that exist

}  // namespace hip_on_cpu

/// In a function of the runtime: returns from it where there is something wrong with the call before it has begun.
#define HIP_ON_CPU_ENTER() \
    if (hipError_t const early = hip_on_cpu::enter(__func__); early != hipSuccess) return hip_on_cpu::leave(early)
