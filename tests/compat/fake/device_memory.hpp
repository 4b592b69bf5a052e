// SPDX-License-Identifier: MIT
#pragma once

namespace test::miopen {

/// Memory over the fake driver (tests/jit/fake_driver.cpp): the host's.
struct MemoryDevice {};
inline MemoryDevice& memory_device() {
    static MemoryDevice device;
    return device;
}

}  // namespace test::miopen
