// SPDX-License-Identifier: MIT
//
// Selects the unit that compiles a host plan.
#include "forms.hpp"

namespace fusekit::jit {

HostCode const* float_code(Spec const& spec);
HostCode const* half_code(Spec const& spec);
HostCode const* bfloat16_code(Spec const& spec);
HostCode const* gemm_code(Spec const& spec, DataType type);
HostCode const* elementwise_code(Spec const& spec, DataType type);
HostCode const* rows_code(Spec const& spec, DataType type);
HostCode const* gradient_code(Spec const& spec, DataType type);
HostCode const* transposed_float_code(Spec const& spec);
HostCode const* transposed_half_code(Spec const& spec);
HostCode const* transposed_bfloat16_code(Spec const& spec);
HostCode const* weight_gradient_code(Spec const& spec, runtime::Types types);

HostCode const* host_code(Spec const& spec, runtime::Types types) {
    if (spec.head == Head::weight_gradient) return weight_gradient_code(spec, types);
    DataType const type = types.x;
    if (!(types == runtime::Types(type))) return nullptr;
    for (auto* const code : {gemm_code, elementwise_code, rows_code, gradient_code})
        if (HostCode const* const found = code(spec, type)) return found;
    bool const transposed = spec.head == Head::transposed_conv;
    if (type == DataType::float32) return transposed ? transposed_float_code(spec) : float_code(spec);
    if (type == DataType::float16) return transposed ? transposed_half_code(spec) : half_code(spec);
    if (type != DataType::bfloat16) return nullptr;
    return transposed ? transposed_bfloat16_code(spec) : bfloat16_code(spec);
}

}  // namespace fusekit::jit
