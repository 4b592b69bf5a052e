// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/hip.hpp>

#include "fusekit_runtime_gpu.hpp"

namespace fusekit::compat {

/// Plans of the compiled library for GPUs.
using Plans = runtime::ready_made::GpuSet;

}  // namespace fusekit::compat
