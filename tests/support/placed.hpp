// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/fusekit.hpp"
#include "support/memory.hpp"

namespace test {

/// Memory that a device can access: on the host, the bytes themselves; on a GPU, a copy of all bytes, including poison
/// and margins.
template <class Device, int Rank>
class Placed {
public:
    /// Constructed from Memory's arguments.
    template <class... Arguments>
    explicit Placed(Device& device, Arguments&&... arguments)
        : device(device), memory(std::forward<Arguments>(arguments)...) {
        if constexpr (copied) {
            if (memory.raw().empty()) return;
            copy = device.allocate(memory.raw().size());
            device.copy_in(copy, memory.raw().data(), memory.raw().size());
        }
    }
    Placed(Placed const&) = delete;
    Placed& operator=(Placed const&) = delete;
    ~Placed() {
        if constexpr (copied)
            if (copy) device.release(copy);
    }

    /// Poisons the memory again.
    void reset() {
        memory.reset();
        if constexpr (copied)
            if (copy) device.copy_in(copy, memory.raw().data(), memory.raw().size());
    }

    template <class T>
    fk::TensorView<T, Rank> view() {
        return memory.template view<T>(copy);
    }
    fk::AnyView<Rank> any() { return memory.any(copy); }

    /// Copies the contents back from the device, after all its work.
    Memory<Rank> const& fetch() {
        if constexpr (copied)
            if (copy) device.copy_out(memory.raw().data(), copy, memory.raw().size());
        return memory;
    }

private:
    static constexpr bool copied = !std::is_base_of_v<fk::host::Memory, Device>;

    Device& device;
    Memory<Rank> memory;
    void* copy = nullptr;
};

}  // namespace test
