// SPDX-License-Identifier: MIT
#pragma once

#include "heads.hpp"

namespace fusekit::jit {

/// True if a sequence is the gradient of a plan, Backward<Plan<...>>: it has the gradient of a batch norm, a residual
/// or an activation.
bool is_gradient(runtime::Descriptors descriptors);

/// Condition that the operator at `position` of a gradient breaks; null if it breaks none. The sentences are those of
/// Backward (plan/backward.hpp), or name the operators of gradients that are compiled at run time.
char const* broken_gradient(runtime::Descriptors descriptors, int position);

/// Positions of the host plan's operators in a gradient's sequence, -1 for one that it omits. Precondition:
/// broken_gradient() finds none broken.
struct GradientShape {
    int norm = -1, residual = -1, activation = -1;
};
GradientShape gradient_shape(runtime::Descriptors descriptors);

/// Head of a gradient: the kind of its batch norm.
Head head_of_gradient(runtime::Descriptors descriptors);

/// The head as in the translation unit: "fusekit::detail::Gradient<Residual, jit::KnownActivation<Relu>>".
TypeText text_of_gradient(runtime::Descriptors descriptors);

}  // namespace fusekit::jit
