// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "failure.hpp"

namespace fusekit::compat {

/// What a handle of the C interface stands for.
enum class ObjectKind : std::uint64_t { handle = 1, tensor, convolution, activation, plan, op, arguments };

/// The objects behind the handles of the C interface. A handle is no address but a number that is used once: the
/// object's slot, its kind, and how often the slot was used. So a handle that is destroyed, of another kind or not a
/// handle at all is told from a good one without reading what it points to. To look one up takes no lock. The handles
/// of a destroyed object are told until its slot has been used 2^32 times more.
///
/// Objects that a program never destroys live as long as the process.
class ObjectTable {
public:
    /// The one table of the process. It is never destroyed: destructors of the program's own may still use handles.
    static ObjectTable& instance();

    /// A new handle of an object; 0 where all 2^24 slots are in use.
    std::uint64_t insert(ObjectKind kind, void* object);

    /// The object of a handle; null where it has none of this kind.
    void* find(ObjectKind kind, std::uint64_t handle) const noexcept {
        Slot const* const slot = slot_of(handle);
        bool const found = slot && kind_of(handle) == kind && slot->handle.load(std::memory_order_acquire) == handle;
        return found ? slot->object.load(std::memory_order_relaxed) : nullptr;
    }

    /// Ends a handle, which was found.
    void erase(std::uint64_t handle) noexcept;

    /// Why there is no object of this kind for the handle: "a null handle" and so on.
    char const* why_not(ObjectKind kind, std::uint64_t handle) const noexcept;

private:
    static constexpr std::uint64_t slots_per_block = 1024, most_blocks = 1 << 14;

    struct Slot {
        std::atomic<std::uint64_t> handle = 0;  ///< 0 where the slot is free
        std::atomic<void*> object = nullptr;
        std::atomic<std::uint32_t> uses = 0;
        std::uint32_t next_free = 0;
    };
    /// From the lowest bit: 4 zeros, for compilers that expect aligned pointers; 4 of the kind; 24 of the slot; 32 of
    /// uses.
    static ObjectKind kind_of(std::uint64_t handle) { return static_cast<ObjectKind>(handle >> 4 & 15); }
    static std::uint64_t index_of(std::uint64_t handle) { return handle >> 8 & 0xffffff; }

    Slot* slot_of(std::uint64_t handle) const noexcept {
        std::uint64_t const index = index_of(handle);
        Slot* const block = blocks[index / slots_per_block].load(std::memory_order_acquire);
        return block ? block + index % slots_per_block : nullptr;
    }

    static constexpr std::uint32_t no_slot = ~std::uint32_t{};

    std::mutex mutex;  ///< of all but looking up
    std::atomic<Slot*> blocks[most_blocks] = {};
    std::uint64_t used = 0;  ///< slots that were ever used
    std::uint64_t first_free = no_slot;  ///< the head of a list through next_free
};

static_assert(sizeof(void*) == sizeof(std::uint64_t), "a handle is a number of 64 bits");

/// A handle of C as the table has it.
template <class Handle>
std::uint64_t number_of(Handle handle) {
    return reinterpret_cast<std::uint64_t>(handle);
}

/// The object behind a handle of C, or Failure. T has its `kind`, its `Handle` and, for messages, its `name`.
template <class T>
T& get(typename T::Handle handle, char const* argument) {
    std::uint64_t const number = number_of(handle);
    if (void* const object = ObjectTable::instance().find(T::kind, number)) return *static_cast<T*>(object);
    fail(miopenStatusBadParm,
         Text(argument) + ": expected " + T::name + ", got " + ObjectTable::instance().why_not(T::kind, number));
}

/// The place that a pointer argument points to, or Failure.
template <class T>
T& at(T* pointer, char const* argument) {
    if (!pointer) fail(miopenStatusBadParm, Text(argument) + ": expected a pointer, got null");
    return *pointer;
}

/// Gives the caller a handle of a new object, which the table has from now on.
template <class T>
void give_handle(typename T::Handle* to, char const* argument, std::unique_ptr<T> object) {
    auto& place = at(to, argument);
    std::uint64_t const handle = ObjectTable::instance().insert(T::kind, object.get());
    if (!handle) fail(miopenStatusAllocFailed, "expected at most 16777216 objects at a time, got one more");
    static_cast<void>(object.release());
    place = reinterpret_cast<typename T::Handle>(handle);
}

/// Ends a handle and deletes its object; does nothing for null, as free() does.
template <class T>
void destroy(typename T::Handle handle, char const* argument) {
    if (!handle) return;
    T* const object = &get<T>(handle, argument);
    ObjectTable::instance().erase(number_of(handle));
    delete object;
}

}  // namespace fusekit::compat
