// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/fusekit.hpp>

#include "fusekit_runtime_host.hpp"

namespace fusekit::compat {

/// Plans of the compiled library for the CPU.
using Plans = runtime::ready_made::HostSet;

}  // namespace fusekit::compat
