// SPDX-License-Identifier: MIT
//
// Host code of plans with a Gemm.
#include "host_code.hpp"

namespace fusekit::jit {

HostCode const* gemm_code(Head head, Reads reads, DataType type) {
    if (head == Head::gemm) return typed_host_code<Head::gemm>(reads, type);
    return nullptr;
}

}  // namespace fusekit::jit
