// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/device.hpp"
#include "fusekit/plan/choice.hpp"
#include "fusekit/tensor/check.hpp"

namespace fusekit::host {

[[gnu::cold, gnu::noinline]] FUSEKIT_H inline void refuse_stream(Check in, int expected, int given) {
    in.operator_name = [] { return Text("stream"); };
    in.fail("", "a device of " + Text::number(expected) + " threads, as it was prepared for", Text::number(given));
}

/// A run prepared for x and y of known layouts; only the pointers are missing. `run` points to code of the translation
/// unit that prepared the launch, because this unit's vector width determines the size of the workspace.
template <class BoundPlan, Element T, detail::OutputElement U>
struct Launch {
    using Stream = Device;

    BoundPlan bound;
    detail::CollapsedLayout<4> x_layout, y_layout;
    int threads;
    std::size_t workspace_bytes;
    std::size_t packed_bytes;  ///< workspace of runs after pack(), which contains the packed weights
    void (*run)(Launch const&, Device&, T const*, U*, WorkspaceView);
    Choice choice;  ///< the loop over y; its time is not predicted
    Steps steps = Steps::all;

    FUSEKIT_H Text device_name() const {
        return "host, " + Text::number(threads) + (threads == 1 ? " thread" : " threads");
    }
    FUSEKIT_H bool is_for(Device const& device) const { return device.threads() == threads; }
    FUSEKIT_H void check_device(Check const& in, Device const& device) const {
        if (!is_for(device)) refuse_stream(in, threads, device.threads());
    }

    /// Runs synchronously; allocates nothing. Precondition: checked pointers.
    FUSEKIT_H Refusal start(Device& device, T const* x, U* y, WorkspaceView workspace) const {
        run(*this, device, x, y, workspace);
        return {};
    }

    /// Packs the weights to `workspace`, of packed_bytes, and returns the launch of runs that read them there.
    FUSEKIT_H Launch pack(Device& device, WorkspaceView workspace) const {
        Launch packed = *this;
        packed.workspace_bytes = packed_bytes;
        packed.steps = Steps::packing;
        run(packed, device, nullptr, nullptr, workspace);
        packed.steps = Steps::after_packing;
        return packed;
    }
};

}  // namespace fusekit::host
