// SPDX-License-Identifier: MIT
//
// Host code of convolutions of bfloat16.
#include "host_code.hpp"

namespace fusekit::jit {

HostCode const* bfloat16_code(Spec const& spec) {
    if (spec.head == Head::conv) return host_code_for<Head::conv, bfloat16>(spec);
    return spec.head == Head::pooled_conv ? host_code_for<Head::pooled_conv, bfloat16>(spec) : nullptr;
}

}  // namespace fusekit::jit
