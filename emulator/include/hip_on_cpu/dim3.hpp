// SPDX-License-Identifier: MIT
#pragma once

/// Extents of a block in threads, or of a grid in blocks; also the index of a thread or of a block.
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}

    constexpr unsigned long count() const { return static_cast<unsigned long>(x) * y * z; }
    /// Returns the coordinates of thread or block number `number`, x fastest.
    constexpr dim3 at(unsigned long number) const {
        return {static_cast<unsigned>(number % x), static_cast<unsigned>(number / x % y),
                static_cast<unsigned>(number / x / y)};
    }
};
