// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/error.hpp>
#include <utility>

#include "miopen/miopen.h"

namespace fusekit::compat {

/// Why a call does not succeed: thrown inside the library, and returned as a status at its boundary.
struct Failure {
    miopenStatus_t status;
    Text sentence;
};

/// Keeps the sentence for fusekitMiopenLastError(): "call: sentence", as much as there is room for. Allocates nothing.
void remember(char const* call, char const* sentence) noexcept;

/// Throws Failure.
[[noreturn]] void fail(miopenStatus_t status, Text sentence);

inline void require(bool holds, miopenStatus_t status, char const* sentence) {
    if (!holds) fail(status, sentence);
}

/// The status of an error of the library's: whether memory was missing, a device's own call failed, or neither.
miopenStatus_t status_of(Error const& error, miopenStatus_t of_neither = miopenStatusBadParm);

/// The status of what is in flight; its sentence is remembered. To be called where an exception is caught.
miopenStatus_t status_of_exception(char const* call) noexcept;

/// Runs the body of the call of that name. Nothing is thrown out of it.
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
