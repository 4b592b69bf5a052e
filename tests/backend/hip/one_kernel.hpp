// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/schedule/warp_specialized.hpp"

namespace test {

/// WarpSpecialized schedules with one of their two kernels: a test compiles both only if it needs both.
template <int m, int n, int stages, fusekit::hip::Roles roles = fusekit::hip::Roles::cooperative, int blocks = 1>
using General = fusekit::hip::WithKernels<fusekit::hip::WarpSpecialized<m, n, stages, roles, blocks>,
                                          fusekit::hip::Kernels::general>;
template <int m, int n, int stages, fusekit::hip::Roles roles = fusekit::hip::Roles::cooperative, int blocks = 1>
using Plain =
    fusekit::hip::WithKernels<fusekit::hip::WarpSpecialized<m, n, stages, roles, blocks>, fusekit::hip::Kernels::plain>;

}  // namespace test
