// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/device.hpp"

namespace test::miopen {

/// Memory that the library under test accesses: the host's.
using MemoryDevice = fusekit::host::Device;
inline MemoryDevice& memory_device() {
    static MemoryDevice device(1);
    return device;
}

/// The host has no streams.
struct OwnStream {
    void* queue() const { return nullptr; }
};

}  // namespace test::miopen
