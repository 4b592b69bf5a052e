// SPDX-License-Identifier: MIT
#include "host_code.hpp"

namespace fusekit::jit {

HostCode const* bfloat16_code(Reads reads) { return host_code_for<bfloat16>(reads); }

}  // namespace fusekit::jit
