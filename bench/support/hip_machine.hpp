// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/hip.hpp>

#include <cstdint>

#include "support/backend.hpp"

namespace bench {

/// What figures are labelled with.
Machine gpu_machine(fusekit::hip::Device const& device);

/// What buffers have to fill so that a call does not find its own in the cache: twice the largest.
std::int64_t gpu_rotated_bytes(int index);

}  // namespace bench
