// SPDX-License-Identifier: MIT
//
// Host code of convolutions of float.
#include "host_code.hpp"

namespace fusekit::jit {

HostCode const* float_code(Spec const& spec) { return code_of_type<float, Head::conv, Head::pooled_conv>(spec); }

}  // namespace fusekit::jit
