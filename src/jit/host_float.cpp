// SPDX-License-Identifier: MIT
//
// Host code of convolutions of float.
#include "host_code.hpp"

namespace fusekit::jit {

HostCode const* float_code(Spec const& spec) {
    if (spec.head == Head::conv) return host_code_for<Head::conv, float>(spec);
    return spec.head == Head::pooled_conv ? host_code_for<Head::pooled_conv, float>(spec) : nullptr;
}

}  // namespace fusekit::jit
