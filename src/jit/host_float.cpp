// SPDX-License-Identifier: MIT
//
// Host code of convolutions of float.
#include "host_code.hpp"

namespace fusekit::jit {

HostCode const* float_conv(Head head, Reads reads) {
    return head == Head::conv ? host_code_for<Head::conv, float>(reads)
                              : host_code_for<Head::pooled_conv, float>(reads);
}

}  // namespace fusekit::jit
