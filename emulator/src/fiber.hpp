// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "context.hpp"

namespace hip_on_cpu {

/// A function with a stack of its own, which its thread enters and leaves as often as it likes. It stays on the
/// thread that first entered it, and never returns.
class Fiber {
public:
    /// `body(argument)` begins at the first resume().
    Fiber(void (*body)(void*), void* argument);
    Fiber(Fiber const&) = delete;
    Fiber& operator=(Fiber const&) = delete;
    ~Fiber();

    /// Runs the fiber until it suspends.
    void resume();
    /// Called within the fiber: returns to whoever resumed it.
    void suspend();

private:
    void (*body)(void*);
    void* argument;
    std::byte* mapping;  // one page that may not be touched, then the stack, which grows down to it
    Context own, resumer;

    // For AddressSanitizer, which keeps a stack's bounds and its fake frames.
    void* own_frames = nullptr;
    void* resumer_frames = nullptr;
    void const* resumer_stack = nullptr;
    std::size_t resumer_bytes = 0;

    static void enter(void* self);
};

}  // namespace hip_on_cpu
