// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/error.hpp>
#include <utility>

#include "miopen/miopen.h"

namespace fusekit::compat {

/// Error of a call: thrown inside the library, returned as a status at its boundary.
struct Failure {
    miopenStatus_t status;
    Text sentence;
};

/// Stores "call: sentence" for fusekitMiopenLastError(), truncated to the buffer. Allocates nothing.
void remember(char const* call, char const* sentence) noexcept;

/// Throws Failure.
[[noreturn]] void fail(miopenStatus_t status, Text sentence);

inline void require(bool holds, miopenStatus_t status, char const* sentence) {
    if (!holds) fail(status, sentence);
}

/// Status of a library error: out of memory, a failed device call, or `of_neither`.
miopenStatus_t status_of(Error const& error, miopenStatus_t of_neither = miopenStatusBadParm);

/// Status of the current exception; stores its message. Precondition: called in a catch block.
miopenStatus_t status_of_exception(char const* call) noexcept;

/// Runs the body of the named call. Never throws.
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
