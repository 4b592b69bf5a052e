// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "cuda_runtime.h"

/// Modules of NVIDIA's driver, loaded at run time, and the kernel that the calling thread launches. cuda/cuda_runtime.h
/// declares the rest, which driver.cpp implements.
namespace fusekit::jit::driver {

/// A loaded kernel; false if there is none.
struct Kernel {
    void* function = nullptr;  ///< CUfunction
    /// Dynamic shared memory of the plan's own code beyond that of the host's, which has Words in place of the
    /// operators after the head: shared memory has the operators' prepared parameters. A launch may use less than all
    /// of it.
    int more_shared_bytes = 0;

    explicit operator bool() const { return function != nullptr; }
};

/// Loads machine code into the current device's primary context and returns its kernel, which may use
/// `dynamic_shared_bytes` of dynamic shared memory. Returns none, and the driver's
/// words in `why`, if it cannot. The module is never unloaded.
Kernel load_kernel(std::string const& code, std::string const& name, unsigned dynamic_shared_bytes, std::string& why);

/// True if a stream is being captured into a graph.
bool is_capturing(cudaStream_t stream);

/// Kernel that launches of this thread use in place of their KernelEntry.
extern thread_local Kernel current_kernel;

}  // namespace fusekit::jit::driver
