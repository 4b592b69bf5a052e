// SPDX-License-Identifier: MIT
//
// Host code of transposed convolutions of half.
#include "transposed_code.hpp"

namespace fusekit::jit {

HostCode const* transposed_half_code(Spec const& spec) { return transposed_code_of<half>(spec); }

}  // namespace fusekit::jit
