// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/sm90a.hpp"

namespace fusekit::hip {

/// True if `count` is an operand that setmaxnreg allows: a multiple of 8 from 24 to 256.
FUSEKIT_H constexpr bool is_register_count(int count) { return count % 8 == 0 && count >= 24 && count <= 256; }
/// True if all warpgroups of a CTA fit the registers that a launch gives it: for each thread the same multiple of 8, of
/// the 64 K of an SM. setmaxnreg.inc waits forever for more. `producer` and `consumer` are registers per thread.
FUSEKIT_H constexpr bool fits_register_file(int producer, int consumer, int producer_warpgroups,
                                            int consumer_warpgroups) {
    int const warpgroups = producer_warpgroups + consumer_warpgroups,
              of_launch = 64 * 1024 / (128 * warpgroups) / 8 * 8;
    return producer_warpgroups * producer + consumer_warpgroups * consumer <= warpgroups * of_launch;
}

/// Register counts per thread of the two warpgroup roles: setmaxnreg moves registers from producers to consumers. Every
/// warpgroup of the CTA calls the function of its role once.
template <int producer, int consumer, int producer_warpgroups = 1, int consumer_warpgroups = 2>
struct RegisterBudget {
    static_assert(is_register_count(producer) && is_register_count(consumer),
                  "register counts of setmaxnreg must be multiples of 8 from 24 to 256");
    static_assert(
        fits_register_file(producer, consumer, producer_warpgroups, consumer_warpgroups),
        "the warpgroups' registers exceed those of the launch: 168 a thread of three warpgroups, 128 of four");

    __device__ static void producer_deallocate() { ptx::setmaxnreg_dec<producer>(); }
    __device__ static void consumer_allocate() { ptx::setmaxnreg_inc<consumer>(); }
};

/// Drop-in for RegisterBudget in kernels whose warpgroups all keep the register count of the launch: both functions do
/// nothing.
struct EqualRegisters {
    __device__ static void producer_deallocate() {}
    __device__ static void consumer_allocate() {}
};

}  // namespace fusekit::hip
