// SPDX-License-Identifier: MIT
#include "backend.hpp"

namespace fusekit::runtime::c {

JitBackend const* jit_backend() { return nullptr; }

}  // namespace fusekit::runtime::c
