// SPDX-License-Identifier: MIT
//
// Host code of transposed convolutions of bfloat16.
#include "transposed_code.hpp"

namespace fusekit::jit {

HostCode const* transposed_bfloat16_code(Spec const& spec) { return transposed_code_of<bfloat16>(spec); }

}  // namespace fusekit::jit
