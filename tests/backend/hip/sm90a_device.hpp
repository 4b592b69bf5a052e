// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"

namespace test {

/// Returns the device; skips the test case if no sm_90a kernel can run.
inline fk::hip::Device sm90a_device() {
    fk::hip::Device device = gpu();
    if (device.architecture() != fk::hip::Architecture::sm(90)) SKIP("no GPU of compute capability 9.0");
    return device;
}

}  // namespace test
