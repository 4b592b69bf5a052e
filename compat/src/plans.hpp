// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/runtime/explain.hpp>
#include <fusekit/runtime/handle.hpp>

#include "queue.hpp"

/// Plans of fusekit's compiled library.
namespace fusekit::compat {

/// Explains whether the library has a plan that begins with these operators.
runtime::Explanation explain_beginning(runtime::Descriptors descriptors);

/// Finds the plan of these operators. Throws Failure, miopenStatusUnsupportedOp, if there is none.
runtime::Handle<Device> find_plan(runtime::Descriptors descriptors, runtime::Types types);

/// Throws Failure if a plan, its preparation or its run refuses: `status`, unless memory is missing or a device call
/// failed.
void check(Refusal const& refusal, miopenStatus_t status = miopenStatusBadParm);

/// Common alignment of x and y in bytes, at most 16, because no launch requires more.
int alignment_of(void const* x, void const* y);

}  // namespace fusekit::compat
