// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/runtime/arguments.hpp>
#include <fusekit/runtime/descriptor.hpp>
#include <fusekit/tensor/workspace.hpp>

#include "tensor_descriptor.hpp"

namespace fusekit::compat {

/// Object of a miopenFusionOpDescriptor_t: an operator of a FusionPlan, which owns it. A bias with more than one value
/// per channel is stored as a Residual.
struct FusionOp {
    static constexpr ObjectKind kind = ObjectKind::op;
    static constexpr char const* name = "an operator";
    using Handle = miopenFusionOpDescriptor_t;

    runtime::Descriptor descriptor;
    TensorDescriptor parameters = {};  ///< layout of each tensor except x: weights, bias, batch norm's parameters
    bool keeps_running = false;        ///< true if a batch norm in training updates running statistics
    bool empty_x = false;              ///< true for a batch norm's backward pass over zero pixels
    std::uint64_t handle = 0;

    /// Tensors of a run, with null pointers. `x` is the layout of the plan's input.
    runtime::Arguments tensors(TensorDescriptor const& x) const;
};

/// fusekit's run-time view of a tensor, with a null pointer.
runtime::View view_of(TensorDescriptor const& tensor);

/// fusekit's run-time view of a tensor at `data`. Throws Failure if the address is misaligned, or null unless the
/// tensor has no elements.
runtime::View view_of(TensorDescriptor const& tensor, void const* data, char const* argument);
void check_address(runtime::View const& view, char const* argument);

/// True if two tensors have a byte in common.
bool share_memory(runtime::View const& a, runtime::View const& b);

/// Throws Failure if the caller's workspace overlaps the tensor `view`.
void check_apart(WorkspaceView workspace, runtime::View const& view, char const* argument);

/// Name of a kind of operator for messages: "a convolution", "a bias" and so on.
char const* name_of(runtime::Kind kind);

}  // namespace fusekit::compat
