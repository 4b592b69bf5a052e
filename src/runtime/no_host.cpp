// SPDX-License-Identifier: MIT
#include "backend.hpp"

namespace fusekit::runtime::c {

Backend const* host_backend() { return nullptr; }

}  // namespace fusekit::runtime::c
