// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/integer.hpp"

namespace fusekit::hip {

FUSEKIT_HD constexpr int(min)(int a, int b) { return a < b ? a : b; }
FUSEKIT_HD constexpr int(max)(int a, int b) { return a > b ? a : b; }

/// ceil(a / b) for a >= 0 and b > 0, in 32 bits. wgmma mainloops use it instead of a 64-bit division, which is a
/// function call on NVIDIA GPUs: under -rdc=true ptxas serializes wgmma in a kernel with calls.
FUSEKIT_HD constexpr int divide_up_32(int a, int b) {
    return static_cast<int>((static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b) - 1) /
                            static_cast<std::uint32_t>(b));
}

/// Least power of two that is `at_least` or more, but at most `most`, a power of two.
FUSEKIT_H constexpr std::int64_t power_of_two(std::int64_t at_least, std::int64_t most = std::int64_t{1} << 62) {
    std::int64_t power = 1;
    while (power < at_least && power < most) power *= 2;
    return power;
}

/// Divisor that is constant during a kernel: divides by a multiplication, n / d = (n + floor(n m / 2^32)) / 2^s for n
/// below 2^31. Source: Granlund and Montgomery 1994, figure 4.1.
class FastDivmod {
public:
    FUSEKIT_H constexpr FastDivmod() = default;
    /// Precomputes m and s of the divisor. A divisor of 0, an extent of a tensor without elements, is replaced by 1.
    FUSEKIT_H constexpr explicit FastDivmod(std::uint32_t given) : divisor(given > 0 ? given : 1) {
        std::uint32_t const the_divisor = divisor;
        while ((std::uint64_t{1} << shift) < the_divisor) ++shift;
        multiplier = static_cast<std::uint32_t>((((std::uint64_t{1} << shift) - the_divisor) << 32) / the_divisor + 1);
    }

    FUSEKIT_HD constexpr std::uint32_t value() const { return divisor; }
    FUSEKIT_HD constexpr std::uint32_t divide(std::uint32_t n) const {
        return (static_cast<std::uint32_t>(std::uint64_t{n} * multiplier >> 32) + n) >> shift;
    }
    FUSEKIT_HD constexpr std::uint32_t remainder(std::uint32_t n) const { return n - divide(n) * divisor; }

private:
    std::uint32_t divisor = 1, multiplier = 1, shift = 0;
};

}  // namespace fusekit::hip
