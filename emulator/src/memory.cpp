// SPDX-License-Identifier: MIT
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "call.hpp"
#include "stream.hpp"

using namespace hip_on_cpu;

namespace {

struct Allocation {
    std::size_t bytes;
    hipMemoryType type;
    int device;
};

/// All allocations, by their first address.
struct Allocations {
    std::mutex mutex;
    std::map<std::uintptr_t, Allocation> all;
};
Allocations& allocations() {
    static Allocations a;
    return a;
}

/// Returns the allocation that contains the address, or null.
Allocation const* find(Allocations const& allocations, void const* memory) {
    auto const address = reinterpret_cast<std::uintptr_t>(memory);
    auto const next = allocations.all.upper_bound(address);
    if (next == allocations.all.begin()) return nullptr;
    auto const& [first, allocation] = *std::prev(next);
    return address - first < allocation.bytes ? &allocation : nullptr;
}

/// Allocations of more bytes are zero and committed lazily: tests of distant addresses access few of their pages.
constexpr std::size_t large = std::size_t{1} << 32;

/// Allocates exactly `bytes` bytes, so that a sanitizer detects an access of the first byte past them. Fills them with
/// bytes that are NaN in every floating-point type.
hipError_t allocate(void** memory, std::size_t bytes, hipMemoryType type) {
    constexpr std::size_t alignment = 256, most = std::size_t{1} << 36;
    *memory = nullptr;
    if (bytes == 0) return hipSuccess;
    if (bytes > most) return hipErrorOutOfMemory;
    if (bytes > large) {
        *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (*memory == MAP_FAILED) *memory = nullptr;
    } else if (posix_memalign(memory, alignment, bytes) == 0) {
        std::memset(*memory, 0xff, bytes);
    }
    if (!*memory) return hipErrorOutOfMemory;
    std::lock_guard const lock(allocations().mutex);
    allocations().all[reinterpret_cast<std::uintptr_t>(*memory)] = {bytes, type, current_device()};
    ++objects;
    return hipSuccess;
}

/// Frees an allocation immediately, without synchronization.
hipError_t release_now(void* memory, hipMemoryType type) {
    std::size_t bytes = 0;
    {
        std::lock_guard const lock(allocations().mutex);
        auto const found = allocations().all.find(reinterpret_cast<std::uintptr_t>(memory));
        if (found == allocations().all.end() || found->second.type != type) return hipErrorInvalidValue;
        bytes = found->second.bytes;
        allocations().all.erase(found);
    }
    if (bytes > large) munmap(memory, bytes);
    else std::free(memory);
    --objects;
    return hipSuccess;
}

/// Frees an allocation after synchronizing the device, as HIP does.
hipError_t release(void* memory, hipMemoryType type) {
    if (!memory) return hipSuccess;
    finish_all(current_device());
    return release_now(memory, type);
}

/// True if `memory` is device memory and `on_device`, or neither.
bool fits(void const* memory, bool on_device) {
    std::lock_guard const lock(allocations().mutex);
    Allocation const* const found = find(allocations(), memory);
    return (found && found->type == hipMemoryTypeDevice) == on_device;
}
bool fits(void const* to, void const* from, hipMemcpyKind kind) {
    if (kind == hipMemcpyDefault) return true;
    return fits(to, kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToDevice) &&
           fits(from, kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice);
}

}  // namespace

hipError_t hipMalloc(void** memory, std::size_t bytes) {
    HIP_ON_CPU_ENTER();
    if (hipError_t const error = refuse_in_capture(); error != hipSuccess) return leave(error);
    return leave(allocate(memory, bytes, hipMemoryTypeDevice));
}
hipError_t hipFree(void* memory) {
    hipError_t const early = enter(__func__);
    if (hipError_t const error = refuse_in_capture(); error != hipSuccess) return leave(error);
    hipError_t const error = release(memory, hipMemoryTypeDevice);  // also after a device error
    return leave(early != hipSuccess ? early : error);
}
hipError_t hipMallocAsync(void** memory, std::size_t bytes, hipStream_t) {
    HIP_ON_CPU_ENTER();
    return leave(allocate(memory, bytes, hipMemoryTypeDevice));
}
hipError_t hipFreeAsync(void* memory, hipStream_t stream) {
    HIP_ON_CPU_ENTER();
    if (!memory || (stream && stream->capture)) return leave(hipErrorInvalidValue);
    return leave(submit(stream, [memory] { static_cast<void>(release_now(memory, hipMemoryTypeDevice)); }));
}
hipError_t hipHostMalloc(void** memory, std::size_t bytes, unsigned) {
    HIP_ON_CPU_ENTER();
    return leave(allocate(memory, bytes, hipMemoryTypeHost));
}
hipError_t hipHostFree(void* memory) {
    HIP_ON_CPU_ENTER();
    return leave(release(memory, hipMemoryTypeHost));
}

hipError_t hipMemcpy(void* to, void const* from, std::size_t bytes, hipMemcpyKind kind) {
    HIP_ON_CPU_ENTER();
    if (hipError_t const error = refuse_in_capture(); error != hipSuccess) return leave(error);
    if (!fits(to, from, kind)) return leave(hipErrorInvalidValue);
    std::memcpy(to, from, bytes);
    return hipSuccess;
}
hipError_t hipMemcpyAsync(void* to, void const* from, std::size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
    HIP_ON_CPU_ENTER();
    if (!fits(to, from, kind)) return leave(hipErrorInvalidValue);
    return leave(submit(stream, [=] { std::memcpy(to, from, bytes); }));
}
hipError_t hipMemset(void* memory, int value, std::size_t bytes) {
    HIP_ON_CPU_ENTER();
    if (hipError_t const error = refuse_in_capture(); error != hipSuccess) return leave(error);
    if (!fits(memory, true)) return leave(hipErrorInvalidValue);
    std::memset(memory, value, bytes);
    return hipSuccess;
}
hipError_t hipMemsetAsync(void* memory, int value, std::size_t bytes, hipStream_t stream) {
    HIP_ON_CPU_ENTER();
    if (!fits(memory, true)) return leave(hipErrorInvalidValue);
    return leave(submit(stream, [=] { std::memset(memory, value, bytes); }));
}
hipError_t hipMemGetInfo(std::size_t* free, std::size_t* total) {
    HIP_ON_CPU_ENTER();
    *free = *total = std::size_t{1} << 36;
    return hipSuccess;
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, void const* memory) {
    HIP_ON_CPU_ENTER();
    std::lock_guard const lock(allocations().mutex);
    Allocation const* const found = find(allocations(), memory);
    *attributes = {};
    if (!found) {
        attributes->type = hipMemoryTypeUnregistered, attributes->device = -1;
        return hipSuccess;
    }
    void* const address = const_cast<void*>(memory);
    attributes->type = found->type, attributes->device = found->device;
    attributes->devicePointer = address;
    attributes->hostPointer = found->type == hipMemoryTypeHost ? address : nullptr;
    return hipSuccess;
}
