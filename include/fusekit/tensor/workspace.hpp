// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include "fusekit/config.hpp"

namespace fusekit {

/// Memory that the caller provides for runs, aligned to 64 bytes. Nothing else may use it between the first run and the
/// end of the last. On a GPU its bytes must be zero before the first run, and runs with the same workspace must be
/// ordered.
struct WorkspaceView {
    void* data = nullptr;
    std::size_t bytes = 0;
};

/// Owning workspace: fk::Workspace workspace(device, run.workspace_bytes()). Move-only; the device must outlive it.
template <class Memory>
class Workspace {
public:
    /// Allocates `bytes` on the device. Throws whatever the device's allocate throws.
    template <class Device>
    FUSEKIT_H Workspace(Device& device, std::size_t bytes)
        : Workspace(static_cast<Memory const&>(device), bytes, Raw{}) {
        if constexpr (requires { owner.fill_zero(allocation.data, bytes); })
            if (bytes) owner.fill_zero(allocation.data, bytes);
    }
    FUSEKIT_H Workspace(Workspace&& other) noexcept
        : owner(other.owner), allocation(config::exchange(other.allocation, {})) {}
    FUSEKIT_H Workspace& operator=(Workspace&& other) noexcept {
        config::swap(owner, other.owner);
        config::swap(allocation, other.allocation);
        return *this;
    }
    FUSEKIT_H ~Workspace() {
        if (allocation.data) owner.release(allocation.data);
    }

    /// Returns the memory and releases ownership: the caller frees it.
    FUSEKIT_H WorkspaceView give_up() { return config::exchange(allocation, {}); }

    FUSEKIT_H WorkspaceView view() const { return allocation; }
    FUSEKIT_H operator WorkspaceView() const { return allocation; }

private:
    [[no_unique_address]] Memory owner;
    WorkspaceView allocation;

    struct Raw {};
    FUSEKIT_H Workspace(Memory const& memory, std::size_t bytes, Raw)
        : owner(memory), allocation{bytes ? memory.allocate(bytes) : nullptr, bytes} {}
};
template <class Device>
Workspace(Device&, std::size_t) -> Workspace<typename Device::Memory>;

}  // namespace fusekit
