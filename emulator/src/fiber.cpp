// SPDX-License-Identifier: MIT
#include "fiber.hpp"

#include <sys/mman.h>

#include <new>

#include "sanitizer.hpp"

#if HIP_ON_CPU_SANITIZE_ADDRESS
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
namespace {
void __asan_unpoison_memory_region(void const volatile*, std::size_t) {}
void __sanitizer_start_switch_fiber(void**, void const*, std::size_t) {}
void __sanitizer_finish_switch_fiber(void*, void const**, std::size_t*) {}
}  // namespace
#endif

namespace hip_on_cpu {

namespace {

constexpr std::size_t page = 4096, stack_bytes = 64 * page;

}  // namespace

Fiber::Fiber(void (*body)(void*), void* argument) : body(body), argument(argument) {
    int const flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
    void* const memory = mmap(nullptr, page + stack_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) throw std::bad_alloc();
    mapping = static_cast<std::byte*>(memory);
    begin(own, mapping + page, stack_bytes, enter, this);
}

Fiber::~Fiber() {
    __asan_unpoison_memory_region(mapping, page + stack_bytes);  // the next user of these addresses may write them
    munmap(mapping, page + stack_bytes);
}

void Fiber::enter(void* argument) {
    auto& self = *static_cast<Fiber*>(argument);
    __sanitizer_finish_switch_fiber(nullptr, &self.resumer_stack, &self.resumer_bytes);
    self.body(self.argument);
}

void Fiber::resume() {
    __sanitizer_start_switch_fiber(&resumer_frames, mapping + page, stack_bytes);
    swap(resumer, own);
    __sanitizer_finish_switch_fiber(resumer_frames, nullptr, nullptr);
}

void Fiber::suspend() {
    __sanitizer_start_switch_fiber(&own_frames, resumer_stack, resumer_bytes);
    swap(own, resumer);
    __sanitizer_finish_switch_fiber(own_frames, &resumer_stack, &resumer_bytes);
}

}  // namespace hip_on_cpu
