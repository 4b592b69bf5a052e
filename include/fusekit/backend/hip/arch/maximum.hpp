// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/config.hpp"

namespace fusekit::hip {

/// Maximum number of threads of a CTA whose plan has an Amax operator. Each thread has one word of shared memory per
/// Amax operator; 256 words fit the LDS that AMD's small tiles leave unused, and 512 words the SMEM that Halo kernels
/// with two Amax operators leave unused.
inline constexpr int max_maxima = std::is_base_of_v<arch::Amd, arch::Target> ? 256 : 512;

/// Returns this thread's running maximum of |value| for the plan's Amax operator `number`, as the bits of a
/// non-negative float. It is in shared memory, at an address that the thread computes without a parameter; the compiler
/// may keep it in a register.
template <int number>
__device__ unsigned& maximum_of_thread() {
    __shared__ unsigned maxima[max_maxima];
    return maxima[threadIdx.x];
}

/// Returns max(magnitude, |value|), or NaN if either is NaN; one instruction from sm_80 on.
__device__ inline float larger_magnitude(float magnitude, float value) {
    if constexpr (config::has_maximum) return config::maximum(magnitude, __builtin_fabsf(value));
    auto const one = config::bit_cast<unsigned>(magnitude), other = config::bit_cast<unsigned>(value) & 0x7fffffffu;
    return config::bit_cast<float>(one < other ? other : one);
}

/// Raises the float `*to` in global memory to at least the running maxima (maximum_of_thread<number>()) of all lanes of
/// the wave, by at most one atomic operation per wave. All lanes of the wave call it.
template <int number>
__device__ void merge_maximum(float* to) {
    auto const wave = static_cast<unsigned>(warpSize);
    unsigned largest = maximum_of_thread<number>();
    for (unsigned mask = wave / 2; mask > 0; mask /= 2) {
        auto const other = config::bit_cast<unsigned>(of_lane_xor(config::bit_cast<float>(largest), mask));
        largest = largest < other ? other : largest;
    }
    auto* const bits = reinterpret_cast<unsigned*>(to);
    if (threadIdx.x % wave == 0 && *bits < largest) atomicMax(bits, largest);
}

}  // namespace fusekit::hip
