// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/runtime/explain.hpp>
#include <fusekit/runtime/handle.hpp>

#include "queue.hpp"

/// The plans of fusekit's compiled library.
namespace fusekit::compat {

/// Why the library has no plan that begins with these operators, if it has none.
runtime::Explanation explain_beginning(runtime::Descriptors descriptors);

/// The plan of these operators; Failure, miopenStatusUnsupportedOp, where there is none.
runtime::Handle<Device> find_plan(runtime::Descriptors descriptors, runtime::Types types);

/// Failure for what a plan, its preparation or its run refuses: `status`, unless memory is missing or the device's own
/// call failed.
void check(Refusal const& refusal, miopenStatus_t status = miopenStatusBadParm);

/// What x and y are both aligned to, in bytes, and 16 at most, as no launch asks for more.
int alignment_of(void const* x, void const* y);

}  // namespace fusekit::compat
