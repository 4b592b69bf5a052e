// SPDX-License-Identifier: MIT
//
// Host code of convolutions of bfloat16.
#include "host_code.hpp"

namespace fusekit::jit {

HostCode const* bfloat16_code(Spec const& spec) { return code_of_type<bfloat16, Head::conv, Head::pooled_conv>(spec); }

}  // namespace fusekit::jit
