// SPDX-License-Identifier: MIT
#include "backend.hpp"

namespace fusekit::runtime::c {

Backend const* host_backend() { return nullptr; }
char const* host_cpu() { return ""; }

}  // namespace fusekit::runtime::c
