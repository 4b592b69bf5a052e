// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/runtime/explain.hpp>
#include <fusekit/runtime/handle.hpp>

#include "queue.hpp"

/// Plans of the compiled library, fusekit::runtime.
namespace fusekit::compat {

/// Explains whether the library has a plan that begins with these operators.
runtime::Explanation explain_beginning(runtime::Descriptors descriptors);

/// Returns the library's plan for these operators. Throws Failure with miopenStatusUnsupportedOp if there is none.
runtime::Handle<Device> find_plan(runtime::Descriptors descriptors, runtime::Types types);

/// Throws Failure if `refusal` has an error: with miopenStatusAllocFailed or miopenStatusInternalError if memory is
/// exhausted or a device call failed, else with `status`.
void check(Refusal const& refusal, miopenStatus_t status = miopenStatusBadParm);

/// Largest alignment in bytes that both x and y have, at most 16, because no launch requires more.
int alignment_of(void const* x, void const* y);

}  // namespace fusekit::compat
