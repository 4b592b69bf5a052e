// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/config.hpp"

namespace fusekit::detail {

/// Bits of |value| as an unsigned integer: compared as integers they have the order of the floats, with NaN above all
/// numbers.
FUSEKIT_HD constexpr std::uint32_t magnitude_bits(float value) {
    return config::bit_cast<std::uint32_t>(value) & 0x7fffffffu;
}

/// Sets *maximum to the float with the bits `magnitude` if that is larger; atomic among CPU threads.
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
