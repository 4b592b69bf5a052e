// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>

#include "fusekit/backend/host/device.hpp"

namespace test {

/// Host device with this many threads, shared by all cases of the program.
inline fusekit::host::Device& device_of(int threads) {
    static std::map<int, std::unique_ptr<fusekit::host::Device>> devices;
    auto& device = devices[threads];
    if (!device) device = std::make_unique<fusekit::host::Device>(threads);
    return *device;
}

}  // namespace test
