// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "failure.hpp"

namespace fusekit::compat {

/// Kind of the object to which a handle of the C interface refers.
enum class ObjectKind : std::uint64_t { handle = 1, tensor, convolution, activation, plan, op, arguments };

/// Table of the objects to which handles of the C interface refer. A handle is not an address but a number that is used
/// once: slot index, kind, and generation of the slot. find() detects destroyed handles, handles of another kind and
/// invalid numbers without dereferencing them, and takes no lock. A destroyed handle is detected until its slot has
/// been used 2^32 times more.
///
/// An object that a program never destroys exists until the process ends.
class ObjectTable {
public:
    /// Returns the table of the process. Never destroyed, because destructors of static objects may still use handles.
    static ObjectTable& instance();

    /// Adds an object and returns its new handle; 0 if all 2^24 slots are in use.
    std::uint64_t insert(ObjectKind kind, void* object);

    /// Returns the object of a handle; null if the handle is invalid, destroyed or of another kind.
    void* find(ObjectKind kind, std::uint64_t handle) const noexcept {
        Slot const* const slot = slot_of(handle);
        bool const found = slot && kind_of(handle) == kind && slot->handle.load(std::memory_order_acquire) == handle;
        return found ? slot->object.load(std::memory_order_relaxed) : nullptr;
    }

    /// Makes a valid handle invalid.
    void erase(std::uint64_t handle) noexcept;

    /// Text of the reason why the handle has no object of this kind: "null", "one that was destroyed" and so on.
    char const* why_not(ObjectKind kind, std::uint64_t handle) const noexcept;

private:
    static constexpr std::uint64_t slots_per_block = 1024, max_blocks = 1 << 14;

    struct Slot {
        std::atomic<std::uint64_t> handle = 0;  ///< 0 if the slot is free
        std::atomic<void*> object = nullptr;
        std::atomic<std::uint32_t> uses = 0;
        std::uint32_t next_free = 0;
    };
    /// Fields of a handle, from the lowest bit: 4 zeros, because compilers assume aligned pointers; 4 bits of kind; 24
    /// of slot index; 32 of generation.
    static ObjectKind kind_of(std::uint64_t handle) { return static_cast<ObjectKind>(handle >> 4 & 15); }
    static std::uint64_t index_of(std::uint64_t handle) { return handle >> 8 & 0xffffff; }

    Slot* slot_of(std::uint64_t handle) const noexcept {
        std::uint64_t const index = index_of(handle);
        Slot* const block = blocks[index / slots_per_block].load(std::memory_order_acquire);
        return block ? block + index % slots_per_block : nullptr;
    }

    static constexpr std::uint32_t no_slot = ~std::uint32_t{};

    std::mutex mutex;  ///< guards insert() and erase(); find() takes no lock
    std::atomic<Slot*> blocks[max_blocks] = {};
    std::uint64_t used = 0;  ///< number of slots that were ever used
    std::uint64_t first_free = no_slot;  ///< first slot of the list of free slots, which are linked by next_free
};

static_assert(sizeof(void*) == sizeof(std::uint64_t), "a handle is a number of 64 bits");

/// Returns a handle of the C interface as a number.
template <class Handle>
std::uint64_t number_of(Handle handle) {
    return reinterpret_cast<std::uint64_t>(handle);
}

/// Returns the object of a handle. Throws Failure if there is none. T has its `kind`, its type `Handle`, and its `name`
/// for messages.
template <class T>
T& get(typename T::Handle handle, char const* argument) {
    std::uint64_t const number = number_of(handle);
    if (void* const object = ObjectTable::instance().find(T::kind, number)) return *static_cast<T*>(object);
    fail(miopenStatusBadParm,
         Text(argument) + ": expected " + T::name + ", got " + ObjectTable::instance().why_not(T::kind, number));
}

/// Returns the object to which a pointer argument points. Throws Failure for null.
template <class T>
T& at(T* pointer, char const* argument) {
    if (!pointer) fail(miopenStatusBadParm, Text(argument) + ": expected a pointer, got null");
    return *pointer;
}

/// Moves a new object into the table and stores its handle in *to.
template <class T>
void give_handle(typename T::Handle* to, char const* argument, std::unique_ptr<T> object) {
    auto& target = at(to, argument);
    std::uint64_t const handle = ObjectTable::instance().insert(T::kind, object.get());
    if (!handle) fail(miopenStatusAllocFailed, "expected at most 16777216 objects at a time, got one more");
    static_cast<void>(object.release());
    target = reinterpret_cast<typename T::Handle>(handle);
}

/// Makes a handle invalid and deletes its object; does nothing for a null handle, as free() does.
template <class T>
void destroy(typename T::Handle handle, char const* argument) {
    if (!handle) return;
    T* const object = &get<T>(handle, argument);
    ObjectTable::instance().erase(number_of(handle));
    delete object;
}

}  // namespace fusekit::compat
