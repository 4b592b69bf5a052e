// SPDX-License-Identifier: MIT
//
// Host code of convolutions of half.
#include "host_code.hpp"

namespace fusekit::jit {

HostCode const* half_conv(Head head, Reads reads) {
    return head == Head::conv ? host_code_for<Head::conv, half>(reads) : host_code_for<Head::pooled_conv, half>(reads);
}

}  // namespace fusekit::jit
