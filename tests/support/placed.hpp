// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/fusekit.hpp"
#include "support/memory.hpp"

namespace test {

/// Memory where a device reads and writes it: on the host, the very bytes; on a GPU, a copy of all of them, so that
/// poison and margins are there too.
template <class Device, int Rank>
class Placed {
public:
    /// Made of what Memory is made of.
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

    /// Poisons it again.
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

    /// What the device has made of it, after all that it has been given to do.
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
