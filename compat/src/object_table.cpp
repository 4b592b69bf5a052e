// SPDX-License-Identifier: MIT
#include "object_table.hpp"

namespace fusekit::compat {

ObjectTable& ObjectTable::instance() {
    static ObjectTable* const table = new ObjectTable;
    return *table;
}

std::uint64_t ObjectTable::insert(ObjectKind kind, void* object) {
    std::lock_guard const lock(mutex);
    std::uint64_t index = first_free;
    if (index == no_slot) {
        if (used == slots_per_block * max_blocks) return 0;
        auto& block = blocks[used / slots_per_block];
        if (used % slots_per_block == 0) block.store(new Slot[slots_per_block], std::memory_order_release);
        index = used++;
    } else {
        first_free = slot_of(index << 8)->next_free;
    }
    Slot& slot = *slot_of(index << 8);
    if (++slot.uses == 0) slot.uses = 1;
    slot.object.store(object, std::memory_order_relaxed);
    std::uint64_t const handle = std::uint64_t{slot.uses} << 32 | index << 8 | static_cast<std::uint64_t>(kind) << 4;
    slot.handle.store(handle, std::memory_order_release);
    return handle;
}

void ObjectTable::erase(std::uint64_t handle) noexcept {
    std::lock_guard const lock(mutex);
    Slot& slot = *slot_of(handle);
    slot.handle.store(0, std::memory_order_release);
    slot.next_free = static_cast<std::uint32_t>(first_free);
    first_free = index_of(handle);
}

char const* ObjectTable::why_not(ObjectKind kind, std::uint64_t handle) const noexcept {
    if (handle == 0) return "null";
    Slot const* const slot = slot_of(handle);
    bool const was_given = slot && (handle & 15) == 0 && handle >> 32 != 0 && handle >> 32 <= slot->uses &&
                           kind_of(handle) >= ObjectKind::handle && kind_of(handle) <= ObjectKind::arguments;
    if (!was_given) return "a number that no call returned";
    if (slot->handle.load(std::memory_order_acquire) != handle) return "one that was destroyed";
    static constexpr char const* names[] = {"",
                                            "a handle",
                                            "a tensor descriptor",
                                            "a convolution descriptor",
                                            "an activation descriptor",
                                            "a fusion plan",
                                            "an operator",
                                            "operator arguments"};
    return kind_of(handle) == kind ? "one that was destroyed" : names[static_cast<int>(kind_of(handle))];
}

}  // namespace fusekit::compat
