// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

/// Counts a program's allocations. Include in one file of the program, and link with
/// --wrap=malloc,--wrap=aligned_alloc, which redirects the C library's functions here.
namespace test {

/// Number of allocations so far.
inline std::atomic<long> allocations = 0;

}  // namespace test

extern "C" {
void* __real_malloc(std::size_t bytes);
void* __real_aligned_alloc(std::size_t alignment, std::size_t bytes);
void* __wrap_malloc(std::size_t bytes) {
    ++test::allocations;
    return __real_malloc(bytes);
}
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes) {
    ++test::allocations;
    return __real_aligned_alloc(alignment, bytes);
}
}

void* operator new(std::size_t bytes) { return __wrap_malloc(bytes); }
void* operator new[](std::size_t bytes) { return __wrap_malloc(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
