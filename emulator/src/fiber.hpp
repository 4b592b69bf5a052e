// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "context.hpp"

namespace hip_on_cpu {

/// A coroutine with its own stack. It stays on the OS thread that first resumed it, and never returns.
class Fiber {
public:
    /// `body(argument)` starts at the first resume().
    Fiber(void (*body)(void*), void* argument);
    Fiber(Fiber const&) = delete;
    Fiber& operator=(Fiber const&) = delete;
    ~Fiber();

    /// Runs the fiber until it suspends.
    void resume();
    /// Called within the fiber: returns to the resumer.
    void suspend();

private:
    void (*body)(void*);
    void* argument;
    std::byte* mapping;  // guard page, then the stack, which grows down to it
    Context own, resumer;

    // For AddressSanitizer, which tracks a stack's bounds and its fake frames.
    void* own_frames = nullptr;
    void* resumer_frames = nullptr;
    void const* resumer_stack = nullptr;
    std::size_t resumer_bytes = 0;

    static void enter(void* self);
};

}  // namespace hip_on_cpu
