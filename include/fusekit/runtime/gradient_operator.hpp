// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/conv/transposed.hpp"
#include "fusekit/ops/conv/weight_gradient.hpp"
#include "fusekit/runtime/operator.hpp"

/// OperatorOf for the gradients of a Conv.
namespace fusekit::runtime {

template <auto Geometry, class Option>
struct OperatorOf<TransposedConv<Geometry, Option>> {
    static constexpr Descriptor descriptor = transposed_conv(Geometry);
    FUSEKIT_H static typename TransposedConv<Geometry, Option>::Args read(Given const& given) {
        return {given.view<4>(Role::weights)};
    }
};

/// Roles: z is dy, bias the output bias_gradient.
template <auto Geometry>
struct OperatorOf<ConvWeightGradient<Geometry>> {
    static constexpr Descriptor descriptor = conv_weight_gradient(Geometry);
    FUSEKIT_H static typename ConvWeightGradient<Geometry>::Args read(Given const& given) {
        return {given.activations(Role::z), given.written_channels(Role::bias)};
    }
};

}  // namespace fusekit::runtime
