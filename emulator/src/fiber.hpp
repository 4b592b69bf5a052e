// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "context.hpp"

namespace hip_on_cpu {

/// Coroutine with a stack of its own. All resume() calls must be on the OS thread of the first one. `body` never
/// returns.
class Fiber {
public:
    /// Prepares body(argument), which starts at the first resume().
    Fiber(void (*body)(void*), void* argument);
    Fiber(Fiber const&) = delete;
    Fiber& operator=(Fiber const&) = delete;
    ~Fiber();

    /// Runs the fiber until it calls suspend().
    void resume();
    /// Returns to the caller of resume(). Called within the fiber.
    void suspend();

private:
    void (*body)(void*);
    void* argument;
    std::byte* mapping;  // guard page, then the stack, which grows down to it
    Context own, resumer;

    // for AddressSanitizer, which tracks a stack's bounds and its fake frames
    void* own_frames = nullptr;
    void* resumer_frames = nullptr;
    void const* resumer_stack = nullptr;
    std::size_t resumer_bytes = 0;

    static void enter(void* self);
};

}  // namespace hip_on_cpu
