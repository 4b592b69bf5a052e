// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "fusion_op.hpp"
#include "launches.hpp"
#include "operator_arguments.hpp"
#include "session.hpp"

namespace fusekit::compat {

/// Plans of the library for a sequence of operators on tensors of given layouts, for one session.
///
/// If a run's arguments, except for the addresses of x and y, equal those of the previous run, it uses the launches
/// that were prepared then, because pointers to weights seldom change. Any other run prepares new launches.
class CompiledPlan {
public:
    /// Finds the plans and compiles their kernels, so that runs on addresses that are multiples of 16 bytes compile
    /// nothing. `x` and `y` are the layouts of input and output. Throws Failure if the library has no plan for the
    /// operators, or if a plan does not support the layouts.
    CompiledPlan(Session const& session, std::vector<FusionOp const*> const& operators, TensorDescriptor const& x,
                 TensorDescriptor const& y);

    /// Bytes of workspace that a run needs.
    std::size_t workspace_bytes() const { return bytes; }

    /// Runs on the session's stream, into a tensor of y's extents and type with any strides. Allocates nothing if the
    /// launches are prepared. Throws Failure on an error; the output is then unchanged.
    void run(Session& session, OperatorArguments const& arguments, void const* from, TensorDescriptor const& output,
             void* to, WorkspaceView caller_workspace);

private:
    struct Operator {
        runtime::Kind kind;
        OpValues values;  ///< arguments of the prepared launches
    };

    Launches launches;
    std::vector<Operator> operators;
    std::vector<runtime::Arguments> tensors;  ///< layouts of the operators' tensors, without pointers
    runtime::View x;
    std::size_t bytes = 0;
    TensorDescriptor y;  ///< layout of y in the prepared launches
    int alignment = 0;  ///< alignment of x and y in the prepared launches, in bytes

    void prepare(Session& session);
    /// Throws Failure if the caller's workspace overlaps a tensor of the run.
    void check_apart(WorkspaceView caller_workspace, void const* from, void const* to) const;
};

}  // namespace fusekit::compat
