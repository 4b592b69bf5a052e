// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/error.hpp>
#include <utility>

#include "miopen/miopen.h"

namespace fusekit::compat {

/// Error of a call of the C interface: thrown inside the library; guard() catches it and returns its status.
struct Failure {
    miopenStatus_t status;
    Text sentence;
};

/// Stores "call: sentence" for fusekitMiopenLastError(), truncated to the buffer's size. Allocates nothing.
void remember(char const* call, char const* sentence) noexcept;

/// Throws Failure with this status and message.
[[noreturn]] void fail(miopenStatus_t status, Text sentence);

inline void require(bool holds, miopenStatus_t status, char const* sentence) {
    if (!holds) fail(status, sentence);
}

/// Status for an Error of the library: miopenStatusAllocFailed if memory is exhausted, miopenStatusInternalError for a
/// failed device call, else `of_neither`.
miopenStatus_t status_of(Error const& error, miopenStatus_t of_neither = miopenStatusBadParm);

/// Returns the status of the current exception, and stores its message. Precondition: called in a catch block.
miopenStatus_t status_of_exception(char const* call) noexcept;

/// Runs the body of the C function `call` and returns its status. Never throws.
template <class Body>
miopenStatus_t guard(char const* call, Body const& body) noexcept {
    try {
        body();
        return miopenStatusSuccess;
    } catch (...) {
        return status_of_exception(call);
    }
}

}  // namespace fusekit::compat
