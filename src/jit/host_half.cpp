// SPDX-License-Identifier: MIT
//
// Host code of convolutions of half.
#include "host_code.hpp"

namespace fusekit::jit {

HostCode const* half_code(Spec const& spec) {
    if (spec.head == Head::conv) return host_code_for<Head::conv, half>(spec);
    return spec.head == Head::pooled_conv ? host_code_for<Head::pooled_conv, half>(spec) : nullptr;
}

}  // namespace fusekit::jit
