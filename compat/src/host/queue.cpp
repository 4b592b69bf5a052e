// SPDX-License-Identifier: MIT
#include "queue.hpp"

#include <chrono>
#include <cstdlib>
#include <new>

/// Queue on the CPU. The application's stream is stored for miopenGetStream() and not used.
namespace fusekit::compat {

Queue::Queue(void* the_stream) : stream(the_stream), number(0) {}

bool Queue::is_captured() const { return false; }

void* Queue::allocate(std::size_t bytes) const {
    constexpr std::size_t alignment = 64;
    void* const memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (!memory) throw std::bad_alloc();
    return memory;
}
void Queue::release(void* memory) const noexcept { std::free(memory); }
void Queue::clear(void*, std::size_t) const {}

float Queue::time(std::function<void()> const& work) const {
    using Clock = std::chrono::steady_clock;
    auto const begin = Clock::now();
    work();
    return std::chrono::duration<float, std::milli>(Clock::now() - begin).count();
}

runtime::c::Backend const* Queue::ready_made() { return runtime::c::host_backend(); }
bool Queue::device_has_workspace() { return true; }

}  // namespace fusekit::compat
