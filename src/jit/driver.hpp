// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "cuda_runtime.h"

/// Modules of NVIDIA's driver, loaded at run time, and the kernel that the calling thread launches. cuda/cuda_runtime.h
/// declares the rest, which driver.cpp implements.
namespace fusekit::jit::driver {

using Function = void*;  ///< CUfunction

/// Loads machine code into the current device's primary context and returns its kernel. Returns null, and the driver's
/// words in `why`, if it cannot. The module is never unloaded.
Function load_kernel(std::string const& code, std::string const& name, unsigned dynamic_shared_bytes, std::string& why);

/// True if a stream is being captured into a graph.
bool is_capturing(cudaStream_t stream);

/// Kernel that launches of this thread use in place of their KernelEntry.
extern thread_local Function current_function;

}  // namespace fusekit::jit::driver
