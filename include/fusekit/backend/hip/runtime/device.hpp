// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/runtime/stream.hpp"

namespace fusekit::hip {

namespace detail {

/// Owner of a Gpu (properties of a GPU) on the heap, so that the Gpu's address, to which streams point, stays valid
/// when the Device is moved.
struct GpuOwner {
    Gpu const* owned;

    FUSEKIT_H explicit GpuOwner(int index) : owned(new Gpu(index)) {}
    FUSEKIT_H GpuOwner(GpuOwner&& other) noexcept : owned(config::exchange(other.owned, nullptr)) {}
    FUSEKIT_H GpuOwner& operator=(GpuOwner&& other) noexcept {
        config::swap(owned, other.owned);
        return *this;
    }
    FUSEKIT_H ~GpuOwner() { delete owned; }
};

}  // namespace detail

/// A GPU, and a stream on it with a workspace. Many threads may read its properties, and prepare() reads only these.
/// One thread at a time may run calls on it: give each thread a Stream. Several devices, on one GPU or many, may be
/// used concurrently. Move-only.
class Device : private detail::GpuOwner, public Stream {
public:
    static constexpr bool is_handle = false;

    /// Uses GPU `index` and creates a stream that is ordered with the default stream. Throws Error if there is no such
    /// GPU or no driver for it.
    FUSEKIT_H explicit Device(int index = 0) : GpuOwner(index), Stream(owned, Kind::in_order) {}

    /// Uses GPU `index` and creates a stream that is not ordered with the default stream.
    FUSEKIT_H static Device non_blocking(int index = 0) { return {index, Kind::non_blocking, nullptr}; }

    /// Uses GPU `index` and the caller's stream, which must outlive the device.
    FUSEKIT_H Device(int index, hipStream_t stream) : Device(index, Kind::borrowed, stream) {}

private:
    FUSEKIT_H Device(int index, Kind kind, hipStream_t stream) : GpuOwner(index), Stream(owned, kind, stream) {}
};

FUSEKIT_H inline Stream::Stream(Device const& device) : Stream(&device.gpu(), Kind::in_order) {}

FUSEKIT_H inline Stream::Stream(Device const& device, hipStream_t stream, WorkspaceView workspace)
    : Memory(device.index(), stream), properties(&device.gpu()), workspace_view(workspace) {}

FUSEKIT_H inline Stream Stream::non_blocking(Device const& device) { return Stream(&device.gpu(), Kind::non_blocking); }

}  // namespace fusekit::hip
