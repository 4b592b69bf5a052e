// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace fusekit::runtime::c {

/// Maps handles to objects and detects invalid ones: a handle is not an address, but a slot index, the kind of object
/// in the slot, and the slot's generation. Lookup takes no lock.
class Registry {
public:
    enum class Kind : std::uint64_t { device = 1, plan, run };

    /// Throws std::bad_alloc.
    void* add(Kind kind, void* object) {
        std::lock_guard const lock(mutex);
        std::uint64_t index;
        if (free.empty()) {
            index = used;
            std::uint64_t const chunk = index / chunk_slots;
            if (chunk == chunks) throw std::bad_alloc();
            if (index % chunk_slots == 0) {
                free.reserve((chunk + 1) * chunk_slots);  // so that remove() allocates nothing
                table[chunk].store(new Slot[chunk_slots], std::memory_order_release);
            }
            ++used;
        } else {
            index = free.back();
            free.pop_back();
        }
        Slot& slot = slot_at(index);
        std::uint64_t const handle =
            (++slot.filled & generations) << 40 | static_cast<std::uint64_t>(kind) << 36 | (index + 1);
        slot.object = object;
        slot.handle.store(handle, std::memory_order_release);
        return reinterpret_cast<void*>(handle);
    }

    /// Returns the object; null if the handle is not a valid one of this kind.
    void* find(Kind kind, void const* given) const {
        Slot const* const slot = slot_of(kind, given);
        return slot ? slot->object : nullptr;
    }

    /// Same as find(), and invalidates the handle. If several threads race, one gets the object.
    void* remove(Kind kind, void const* given) {
        std::lock_guard const lock(mutex);
        Slot* const slot = slot_of(kind, given);
        if (!slot) return nullptr;
        slot->handle.store(0, std::memory_order_release);
        free.push_back((reinterpret_cast<std::uint64_t>(given) & indices) - 1);
        return slot->object;
    }

private:
    static constexpr std::uint64_t chunks = 4096, chunk_slots = 1024;
    static constexpr std::uint64_t indices = (std::uint64_t{1} << 36) - 1, generations = (std::uint64_t{1} << 24) - 1;

    struct Slot {
        std::atomic<std::uint64_t> handle = 0;
        void* object = nullptr;
        std::uint64_t filled = 0;
    };

    std::mutex mutex;  // guards the following members, except lookups of slots
    std::atomic<Slot*> table[chunks] = {};
    std::uint64_t used = 0;
    std::vector<std::uint64_t> free;

    Slot& slot_at(std::uint64_t index) const {
        return table[index / chunk_slots].load(std::memory_order_acquire)[index % chunk_slots];
    }
    Slot* slot_of(Kind kind, void const* given) const {
        auto const handle = reinterpret_cast<std::uint64_t>(given);
        std::uint64_t const index = (handle & indices) - 1;
        if (handle == 0 || index >= chunks * chunk_slots || (handle >> 36 & 15) != static_cast<std::uint64_t>(kind))
            return nullptr;
        Slot* const slots = table[index / chunk_slots].load(std::memory_order_acquire);
        if (!slots) return nullptr;
        Slot* const slot = &slots[index % chunk_slots];
        return slot->handle.load(std::memory_order_acquire) == handle ? slot : nullptr;
    }
};

static_assert(sizeof(void*) == 8);

}  // namespace fusekit::runtime::c
