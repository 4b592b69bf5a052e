// SPDX-License-Identifier: MIT
#include "host_code.hpp"

namespace fusekit::jit {

HostCode const* float_code(Reads reads) { return host_code_for<float>(reads); }

}  // namespace fusekit::jit
