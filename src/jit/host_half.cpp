// SPDX-License-Identifier: MIT
#include "host_code.hpp"

namespace fusekit::jit {

HostCode const* half_code(Reads reads) { return host_code_for<half>(reads); }

}  // namespace fusekit::jit
