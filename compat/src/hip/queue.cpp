// SPDX-License-Identifier: MIT
#include "queue.hpp"

#include <fusekit/backend/hip/runtime/memory.hpp>

#include "timing.hpp"

/// Queue on a GPU, by the platform for which this unit is compiled: HIP, CUDA's runtime, or src/jit/cuda over NVIDIA's
/// driver.
namespace fusekit::compat {

using namespace hip;  // under nvcc, names of HIP's functions are in namespace hip

namespace {

int current_gpu() {
    int index = 0;
    hip::check(hipGetDevice(&index), 0, "hipGetDevice", "a GPU, and a driver for it");
    return index;
}

Memory memory_of(Queue const& queue) { return {queue.index(), static_cast<hipStream_t>(queue.native())}; }

}  // namespace

Queue::Queue(void* the_stream) : stream(the_stream), number(current_gpu()) {}

bool Queue::is_captured() const {
    hip::DeviceGuard const guard(number);
    return timing::is_captured(memory_of(*this));
}

void* Queue::allocate(std::size_t bytes) const { return memory_of(*this).allocate(bytes); }
void Queue::release(void* memory) const noexcept { memory_of(*this).release(memory); }
void Queue::clear(void* memory, std::size_t bytes) const {
    hip::DeviceGuard const guard(number);
    hip::check(hipMemsetAsync(memory, 0, bytes, static_cast<hipStream_t>(stream)), number, "hipMemsetAsync");
}

float Queue::time(std::function<void()> const& work) const { return timing::milliseconds_of(memory_of(*this), work); }

runtime::c::Backend const* Queue::ready_made() { return runtime::c::gpu_backend(); }
bool Queue::device_has_workspace() { return false; }

}  // namespace fusekit::compat
