// SPDX-License-Identifier: MIT
//
// Host code of plans with a Gemm or a BatchedGemm.
#include "host_code.hpp"

namespace fusekit::jit {

HostCode const* gemm_code(Spec const& spec, DataType type) {
    return typed_host_code<Head::gemm, Head::batched_gemm>(spec, type);
}

}  // namespace fusekit::jit
