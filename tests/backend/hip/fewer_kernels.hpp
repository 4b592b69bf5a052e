// SPDX-License-Identifier: MIT
#pragma once

#include "backend/hip/one_schedule.hpp"

namespace test {

/// The device; with FEWER_KERNELS (FUSEKIT_FEWER_KERNELS) OneSchedule on it: for tests of what many plans compute
/// whatever kernel computes it, beside tests that run some of these plans as the library chooses. The default computes
/// any layout and type, and windows of up to 15 slices, rows and columns; Direct computes any window.
#ifdef FEWER_KERNELS
template <class Schedule = fusekit::hip::Gemm<64, 64, 16>>
OneSchedule<Schedule> fewer_kernels(fusekit::hip::Device& device) {
    return OneSchedule<Schedule>(device);
}
#else
template <class Schedule = fusekit::hip::Gemm<64, 64, 16>>
fusekit::hip::Device& fewer_kernels(fusekit::hip::Device& device) {
    return device;
}
#endif

}  // namespace test
