// SPDX-License-Identifier: MIT
#pragma once

#include "backend/hip/gpu.hpp"
#include "support/effort.hpp"

namespace test {

/// Pairs that a test runs on this device. hip_waves runs on NVIDIA's waves of 32 lanes and AMD's of 64: with
/// FEWER_KERNELS each pair runs on one of them.
inline Pairs pairs_on(fk::hip::Device const& device) {
    return {one_pair_in, device.architecture().maker() == fk::hip::Architecture::Maker::amd};
}

}  // namespace test
