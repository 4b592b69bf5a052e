// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace hip_on_cpu {

/// The point at which a function was left, so that it can be entered again.
struct Context {
#if defined(__x86_64__)
    void* stack = nullptr;
#else
    ucontext_t saved;
#endif
};

/// Makes `context` the start of enter(argument) on the stack of `bytes` at `memory`.
void begin(Context& context, std::byte* memory, std::size_t bytes, void (*enter)(void*), void* argument);

/// Leaves the calling function, to be entered again through `from`, and enters where `to` was left.
void swap(Context& from, Context& to);

}  // namespace hip_on_cpu
