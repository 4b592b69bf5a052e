// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>

#include "fusekit/backend/hip/runtime/device.hpp"

namespace test::miopen {

/// Memory that the library under test accesses: a GPU's. Skips the test case without a GPU.
using MemoryDevice = fusekit::hip::Device;
inline MemoryDevice& memory_device() {
    if (fusekit::hip::device_count() == 0) SKIP("there is no GPU here");
    static MemoryDevice device;
    return device;
}

/// Stream of a handle, ordered with operations on the memory.
class OwnStream {
public:
    auto queue() const { return stream.stream(); }

private:
    fusekit::hip::Stream stream{memory_device()};
};

}  // namespace test::miopen
