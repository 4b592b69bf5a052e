// SPDX-License-Identifier: MIT
//
// Host code of gradients of plans without a Conv or Gemm.
#include "host_gradient_plan.hpp"
// the host plans above come before their users
#include "host_code.hpp"

namespace fusekit::jit {

HostCode const* gradient_code(Spec const& spec, DataType type) {
    return typed_host_code<Head::spatial_norm_gradient, Head::activation_norm_gradient,
                           Head::spatial_inference_gradient, Head::activation_inference_gradient,
                           Head::activation_gradient>(spec, type);
}

}  // namespace fusekit::jit
