// SPDX-License-Identifier: MIT
//
// Host code of transposed convolutions of float.
#include "transposed_code.hpp"

namespace fusekit::jit {

HostCode const* transposed_float_code(Spec const& spec) { return transposed_code_of<float>(spec); }

}  // namespace fusekit::jit
