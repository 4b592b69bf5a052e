// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/fusekit.hpp>

#include "fusekit_runtime_host.hpp"

namespace fusekit::compat {

/// The plans that the compiled library has for the CPU.
using Plans = runtime::ready_made::HostSet;

}  // namespace fusekit::compat
