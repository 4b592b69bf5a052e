// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/config.hpp"

namespace fusekit::detail {

/// Bits of |value|: integers in the order of the floats, with NaN above all numbers.
FUSEKIT_HD constexpr std::uint32_t magnitude_bits(float value) {
    return config::bit_cast<std::uint32_t>(value) & 0x7fffffffu;
}

/// Raises *maximum to the float with these bits if that is larger; atomic among CPU threads.
FUSEKIT_H constexpr void raise_to(float* maximum, std::uint32_t magnitude) {
    if (std::is_constant_evaluated()) {
        if (magnitude_bits(*maximum) < magnitude) *maximum = config::bit_cast<float>(magnitude);
        return;
    }
    auto* const bits = reinterpret_cast<std::uint32_t*>(maximum);
    std::uint32_t old = __atomic_load_n(bits, __ATOMIC_RELAXED);
    while (old < magnitude &&
           !__atomic_compare_exchange_n(bits, &old, magnitude, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

}  // namespace fusekit::detail
