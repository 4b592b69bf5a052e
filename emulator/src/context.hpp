// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace hip_on_cpu {

/// Saved execution state of a suspended function.
struct Context {
#if defined(__x86_64__)
    void* stack = nullptr;
#else
    ucontext_t saved;
#endif
};

/// Initializes `context`: the first swap() to it calls enter(argument), on the stack of `bytes` bytes at `memory`.
void begin(Context& context, std::byte* memory, std::size_t bytes, void (*enter)(void*), void* argument);

/// Saves the state of the calling function to `from` and resumes `to`.
void swap(Context& from, Context& to);

}  // namespace hip_on_cpu
