// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/device.hpp"

namespace test::miopen {

/// The memory that the library under test reads and writes: any.
using MemoryDevice = fusekit::host::Device;
inline MemoryDevice& memory_device() {
    static MemoryDevice device(1);
    return device;
}

/// There are no streams.
struct OwnStream {
    void* queue() const { return nullptr; }
};

}  // namespace test::miopen
