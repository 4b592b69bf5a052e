// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/runtime/explain.hpp"
#include "words.hpp"

namespace fusekit::jit {

/// Text of a sequence as a plan: "Plan<Conv<filter(3, 3)>, Bias, Swish>".
Text name_of(runtime::Descriptors descriptors);

/// Explains whether a sequence is compiled at run time: the ordering rules of every Plan, then the operators and types
/// that this library compiles. With `types` null the sequence is a prefix, to which operators may be added.
runtime::Explanation explain(runtime::Descriptors descriptors, runtime::Types const* types);

/// The head, the operators after it and the offsets of their Args. Precondition: explain() finds every operator and
/// geometry valid; the sequence is not empty.
Spec spec_of(runtime::Descriptors descriptors);

}  // namespace fusekit::jit
