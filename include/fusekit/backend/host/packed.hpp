// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/device.hpp"
#include "fusekit/tensor/workspace.hpp"

namespace fusekit::host {

/// A prepared run of a layer whose weights and parameters do not change: they are packed once, by the constructor and
/// by update(), and runs skip that. Move-only; owns a copy of the packed weights and the workspace of its runs. The
/// device and the tensors of the layer must outlive it.
template <class Prepared>
class Packed {
public:
    /// Packs the weights to which `prepared`, a run for `the_device`, is bound. Throws Error if memory is exhausted.
    FUSEKIT_H Packed(Device& the_device, Prepared const& prepared)
        : device(&the_device),
          source(prepared),
          workspace(the_device, prepared.packed_bytes()),
          packed(prepared.pack(the_device, workspace)) {}

    /// Packs the weights and parameters again, after they were written. Not while a run is in progress.
    FUSEKIT_H void update() { packed = source.pack(*device, workspace); }

    /// Runs from x into y as Prepared does; one run at a time, because runs share the workspace. Between a change of
    /// the weights and update(), results may be those of the old or the new weights, or of both mixed.
    template <class X, class Y>
    FUSEKIT_H void operator()(X const& x, Y&& y) const {
        packed(*device, x, y, workspace);
    }

    /// Bytes of memory that this object owns.
    FUSEKIT_H std::size_t bytes() const { return source.packed_bytes(); }

private:
    Device* device;
    Prepared source;
    Workspace<Memory> workspace;
    Prepared packed;
};

/// Prepares `layer` for x and y and packs its weights: auto const run = fk::host::pack(device, layer, x, y); run(x, y).
/// Takes what layer.prepare() takes after the device: tensors, or layouts.
template <class Layer, class X, class Y>
[[nodiscard]] FUSEKIT_H auto pack(Device& device, Layer const& layer, X const& x, Y&& y) {
    return Packed(device, layer.prepare(device, x, y));
}

}  // namespace fusekit::host
