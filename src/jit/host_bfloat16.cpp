// SPDX-License-Identifier: MIT
//
// Host code of convolutions of bfloat16.
#include "host_code.hpp"

namespace fusekit::jit {

HostCode const* bfloat16_conv(Head head, Reads reads) {
    return head == Head::conv ? host_code_for<Head::conv, bfloat16>(reads)
                              : host_code_for<Head::pooled_conv, bfloat16>(reads);
}

}  // namespace fusekit::jit
