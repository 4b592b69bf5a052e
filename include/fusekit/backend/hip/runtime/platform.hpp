// SPDX-License-Identifier: MIT
#pragma once

// Selects the platform, here alone. HIP's headers are used wherever they compile. Under nvcc, if HIP's headers are
// missing or older than the CUDA toolkit, cuda_names.hpp maps HIP's names to CUDA's. hip_on_cpu is HIP on the CPU, for
// any compiler. Compilers that do not compile for GPUs print one #error instead of thousands of lines.
#if !defined(__CUDACC__) && !defined(__HIP__) && !__has_include(<hip_on_cpu/kernel.hpp>)
#error "hip.hpp needs a compiler for GPUs: hipcc, clang++ -x hip, or nvcc on a .cu file"
#include <hip.hpp needs a compiler for GPUs: hipcc, clang++ -x hip, or nvcc on a .cu file>  // a fatal error
#elif defined(__NVCC__) && !defined(__CUDACC_RELAXED_CONSTEXPR__)
#error "fusekit needs nvcc's option --expt-relaxed-constexpr"
#endif

#if defined(__CUDACC__) && !defined(HIP_INCLUDE_HIP_HIP_RUNTIME_H)
#if defined(__HIP_PLATFORM_NVIDIA__) && __has_include(<hip/hip_version.h>)
#include <hip/hip_version.h>
#endif
#if defined(HIP_VERSION_MAJOR) && (HIP_VERSION_MAJOR >= 7 || __CUDACC_VER_MAJOR__ < 13)
#include <hip/hip_runtime.h>
#else
#include "fusekit/backend/hip/runtime/cuda_names.hpp"
#endif
#else
#include <hip/hip_runtime.h>
#endif

// Qualifiers of a kernel argument whose address is used: it stays in constant memory, without a copy per thread.
#if defined(__CUDACC__) || defined(HIP_ON_CPU)
#define FUSEKIT_GRID_CONSTANT __grid_constant__ const
#else
#define FUSEKIT_GRID_CONSTANT
#endif
