// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>

namespace bench {

/// Message of this thread's last call of succeeds() that returned 0.
inline thread_local std::string message;

/// Runs f behind a C interface: returns 1, or, if f throws, 0 after storing the exception's text in `message`.
template <class F>
int succeeds(F const& f) {
    try {
        f();
        return 1;
    } catch (std::exception const& error) {
        message = error.what();
        return 0;
    }
}

}  // namespace bench
