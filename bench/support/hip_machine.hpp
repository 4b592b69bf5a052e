// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/hip.hpp>

#include <cstdint>

#include "support/backend.hpp"

namespace bench {

/// Label of the measurements.
Machine gpu_machine(fusekit::hip::Device const& device);

/// Bytes that rotated buffers must exceed to miss the cache: twice the largest cache.
std::int64_t gpu_rotated_bytes(int index);

}  // namespace bench
