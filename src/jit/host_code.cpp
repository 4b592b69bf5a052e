// SPDX-License-Identifier: MIT
//
// Selects the unit that compiles a head's host code.
#include "forms.hpp"

namespace fusekit::jit {

HostCode const* float_conv(Head head, Reads reads);
HostCode const* half_conv(Head head, Reads reads);
HostCode const* bfloat16_conv(Head head, Reads reads);
HostCode const* gemm_code(Head head, Reads reads, DataType type);
HostCode const* elementwise_code(Head head, Reads reads, DataType type);
HostCode const* rows_code(Head head, Reads reads, DataType type);

HostCode const* host_code(Head head, Reads reads, runtime::Types types) {
    DataType const type = types.x;
    if (!(types == runtime::Types(type))) return nullptr;
    if (head == Head::conv || head == Head::pooled_conv) {
        if (type == DataType::float32) return float_conv(head, reads);
        if (type == DataType::float16) return half_conv(head, reads);
        return type == DataType::bfloat16 ? bfloat16_conv(head, reads) : nullptr;
    }
    for (auto* const code : {gemm_code, elementwise_code, rows_code})
        if (HostCode const* const found = code(head, reads, type)) return found;
    return nullptr;
}

}  // namespace fusekit::jit
