// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "failure.hpp"

namespace fusekit::compat {

/// Kind of object behind a handle of the C interface.
enum class ObjectKind : std::uint64_t { handle = 1, tensor, convolution, activation, plan, op, arguments };

/// Maps handles of the C interface to objects. A handle is not an address but a number used once: slot index, kind, and
/// generation of the slot. Destroyed handles, handles of another kind and invalid numbers are detected without
/// dereferencing them. Lookup takes no lock. Stale handles are detected until their slot has been reused 2^32 times.
///
/// Objects that a program never destroys live until the process ends.
class ObjectTable {
public:
    /// The table of the process. Never destroyed: destructors of static objects may still use handles.
    static ObjectTable& instance();

    /// Returns a new handle of an object; 0 if all 2^24 slots are in use.
    std::uint64_t insert(ObjectKind kind, void* object);

    /// Object of a handle; null if the handle is not a valid one of this kind.
    void* find(ObjectKind kind, std::uint64_t handle) const noexcept {
        Slot const* const slot = slot_of(handle);
        bool const found = slot && kind_of(handle) == kind && slot->handle.load(std::memory_order_acquire) == handle;
        return found ? slot->object.load(std::memory_order_relaxed) : nullptr;
    }

    /// Invalidates a valid handle.
    void erase(std::uint64_t handle) noexcept;

    /// Reason why the handle has no object of this kind: "a null handle" and so on.
    char const* why_not(ObjectKind kind, std::uint64_t handle) const noexcept;

private:
    static constexpr std::uint64_t slots_per_block = 1024, max_blocks = 1 << 14;

    struct Slot {
        std::atomic<std::uint64_t> handle = 0;  ///< 0 if the slot is free
        std::atomic<void*> object = nullptr;
        std::atomic<std::uint32_t> uses = 0;
        std::uint32_t next_free = 0;
    };
    /// Bits from the lowest: 4 zeros, for compilers that assume aligned pointers; 4 of kind; 24 of slot index; 32 of
    /// generation.
    static ObjectKind kind_of(std::uint64_t handle) { return static_cast<ObjectKind>(handle >> 4 & 15); }
    static std::uint64_t index_of(std::uint64_t handle) { return handle >> 8 & 0xffffff; }

    Slot* slot_of(std::uint64_t handle) const noexcept {
        std::uint64_t const index = index_of(handle);
        Slot* const block = blocks[index / slots_per_block].load(std::memory_order_acquire);
        return block ? block + index % slots_per_block : nullptr;
    }

    static constexpr std::uint32_t no_slot = ~std::uint32_t{};

    std::mutex mutex;  ///< guards everything except lookup
    std::atomic<Slot*> blocks[max_blocks] = {};
    std::uint64_t used = 0;  ///< number of slots ever used
    std::uint64_t first_free = no_slot;  ///< head of the free list through next_free
};

static_assert(sizeof(void*) == sizeof(std::uint64_t), "a handle is a number of 64 bits");

/// Handle of C as a number.
template <class Handle>
std::uint64_t number_of(Handle handle) {
    return reinterpret_cast<std::uint64_t>(handle);
}

/// Object behind a handle of C. Throws Failure if there is none. T has its `kind`, its `Handle` and its `name` for
/// messages.
template <class T>
T& get(typename T::Handle handle, char const* argument) {
    std::uint64_t const number = number_of(handle);
    if (void* const object = ObjectTable::instance().find(T::kind, number)) return *static_cast<T*>(object);
    fail(miopenStatusBadParm,
         Text(argument) + ": expected " + T::name + ", got " + ObjectTable::instance().why_not(T::kind, number));
}

/// Target of a pointer argument. Throws Failure for null.
template <class T>
T& at(T* pointer, char const* argument) {
    if (!pointer) fail(miopenStatusBadParm, Text(argument) + ": expected a pointer, got null");
    return *pointer;
}

/// Moves a new object into the table and returns its handle to the caller.
template <class T>
void give_handle(typename T::Handle* to, char const* argument, std::unique_ptr<T> object) {
    auto& target = at(to, argument);
    std::uint64_t const handle = ObjectTable::instance().insert(T::kind, object.get());
    if (!handle) fail(miopenStatusAllocFailed, "expected at most 16777216 objects at a time, got one more");
    static_cast<void>(object.release());
    target = reinterpret_cast<typename T::Handle>(handle);
}

/// Invalidates a handle and deletes its object; a null handle is a no-op, as in free().
template <class T>
void destroy(typename T::Handle handle, char const* argument) {
    if (!handle) return;
    T* const object = &get<T>(handle, argument);
    ObjectTable::instance().erase(number_of(handle));
    delete object;
}

}  // namespace fusekit::compat
