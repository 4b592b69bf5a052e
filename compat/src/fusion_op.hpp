// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/runtime/arguments.hpp>
#include <fusekit/runtime/descriptor.hpp>
#include <fusekit/tensor/workspace.hpp>

#include "tensor_descriptor.hpp"

namespace fusekit::compat {

/// Behind a miopenFusionOpDescriptor_t: an operator of a plan, which owns it. A bias with more than one
/// value per channel is a Residual.
struct FusionOp {
    static constexpr ObjectKind kind = ObjectKind::op;
    static constexpr char const* name = "an operator";
    using Handle = miopenFusionOpDescriptor_t;

    runtime::Descriptor descriptor;
    TensorDescriptor parameters = {};  ///< of each tensor that it is given but x: weights, bias, batch norm's
    bool keeps_running = false;        ///< whether a batch norm in training moves running statistics
    bool empty_x = false;              ///< a batch norm's backward pass over no pixels
    std::uint64_t handle = 0;

    /// The tensors that runs are given, their pointers null. `x` is the plan's input.
    runtime::Arguments tensors(TensorDescriptor const& x) const;
};

/// As the runtime has it; the pointer is null.
runtime::View view_of(TensorDescriptor const& tensor);

/// The same at an address. Throws Failure for a misaligned one, and for null unless the tensor has no elements.
runtime::View view_of(TensorDescriptor const& tensor, void const* data, char const* argument);
void check_address(runtime::View const& view, char const* argument);

/// Failure where memory that a caller lends is a tensor's too.
void check_apart(WorkspaceView workspace, runtime::View const& view, char const* argument);

/// "a convolution", "a bias" and so on.
char const* name_of(runtime::Kind kind);

}  // namespace fusekit::compat
