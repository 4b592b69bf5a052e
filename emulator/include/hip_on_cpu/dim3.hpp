// SPDX-License-Identifier: MIT
#pragma once

/// Threads of a block, or blocks of a grid.
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}

    constexpr unsigned long count() const { return static_cast<unsigned long>(x) * y * z; }
    /// The place of item `number`, x fastest.
    constexpr dim3 at(unsigned long number) const {
        return {static_cast<unsigned>(number % x), static_cast<unsigned>(number / x % y),
                static_cast<unsigned>(number / x / y)};
    }
};
