// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/config.hpp"

namespace fusekit::detail {

/// The bits of |value|: an integer that is as large as the float, and larger than those of numbers for NaN.
FUSEKIT_HD constexpr std::uint32_t magnitude_bits(float value) {
    return config::bit_cast<std::uint32_t>(value) & 0x7fffffffu;
}

/// maximum = max(maximum, magnitude), by its bits, whichever of the CPU's threads do it at the same time.
FUSEKIT_H constexpr void raise_to(float* maximum, std::uint32_t magnitude) {
    if (std::is_constant_evaluated()) {
        if (magnitude_bits(*maximum) < magnitude) *maximum = config::bit_cast<float>(magnitude);
        return;
    }
    auto* const bits = reinterpret_cast<std::uint32_t*>(maximum);
    std::uint32_t before = __atomic_load_n(bits, __ATOMIC_RELAXED);
    while (before < magnitude &&
           !__atomic_compare_exchange_n(bits, &before, magnitude, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

}  // namespace fusekit::detail
