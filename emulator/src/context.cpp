// SPDX-License-Identifier: MIT
#include "context.hpp"

#if defined(__x86_64__)

// Hand-written, because swapcontext() saves the signal mask with a system call, which takes ten times as long.
// Callee-saved registers are rbp, rbx and r12 to r15 (System V ABI, AMD64 supplement, 3.2.1).
extern "C" {
void hip_on_cpu_swap(void** from, void* to);
void hip_on_cpu_begin();
}
asm(R"(
.text
hip_on_cpu_swap:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
hip_on_cpu_begin:
    .cfi_startproc
    .cfi_undefined rip  # nobody called it: debuggers stop here
    movq %r14, %rdi
    call *%r15
    ud2
    .cfi_endproc
)");

void hip_on_cpu::begin(Context& context, std::byte* memory, std::size_t bytes, void (*enter)(void*), void* argument) {
    void** const top = reinterpret_cast<void**>(memory + bytes);
    void** const frame = top - 7;  // r15, r14, r13, r12, rbx, rbp, and the return address
    for (void** word = frame; word != top; ++word) *word = nullptr;
    frame[0] = reinterpret_cast<void*>(enter);
    frame[1] = argument;
    frame[6] = reinterpret_cast<void*>(&hip_on_cpu_begin);
    context.stack = frame;
}

void hip_on_cpu::swap(Context& from, Context& to) { hip_on_cpu_swap(&from.stack, to.stack); }

#else

namespace {

/// Trampoline: calls the function at an address that is passed as two ints, because makecontext() passes no wider
/// arguments.
void unpack(unsigned enter_high, unsigned enter_low, unsigned argument_high, unsigned argument_low) {
    auto const join = [](std::uintptr_t high, std::uintptr_t low) { return high << 32 | low; };
    reinterpret_cast<void (*)(void*)>(join(enter_high, enter_low))(
        reinterpret_cast<void*>(join(argument_high, argument_low)));
}

}  // namespace

void hip_on_cpu::begin(Context& context, std::byte* memory, std::size_t bytes, void (*enter)(void*), void* argument) {
    getcontext(&context.saved);
    context.saved.uc_stack.ss_sp = memory;
    context.saved.uc_stack.ss_size = bytes;
    context.saved.uc_link = nullptr;
    auto const f = reinterpret_cast<std::uintptr_t>(enter), a = reinterpret_cast<std::uintptr_t>(argument);
    makecontext(&context.saved, reinterpret_cast<void (*)()>(&unpack), 4, static_cast<unsigned>(f >> 32),
                static_cast<unsigned>(f), static_cast<unsigned>(a >> 32), static_cast<unsigned>(a));
}

void hip_on_cpu::swap(Context& from, Context& to) { swapcontext(&from.saved, &to.saved); }

#endif
