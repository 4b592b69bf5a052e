// SPDX-License-Identifier: MIT
//
// Host code of convolutions of half.
#include "host_code.hpp"

namespace fusekit::jit {

HostCode const* half_code(Spec const& spec) { return code_of_type<half, Head::conv, Head::pooled_conv>(spec); }

}  // namespace fusekit::jit
