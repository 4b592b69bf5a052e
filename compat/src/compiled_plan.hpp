// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "fusion_op.hpp"
#include "operator_arguments.hpp"
#include "session.hpp"

namespace fusekit::compat {

/// A plan of the library for a sequence of operators on tensors of these layouts, for one session.
///
/// A run whose arguments equal the previous run's, except for the addresses of x and y, reuses the prepared launch:
/// pointers to weights seldom change. Any other run prepares a new one.
class CompiledPlan {
public:
    /// `x` and `y` are the layouts of input and output. Throws Failure if the library has no such plan, or the plan
    /// refuses the layouts.
    CompiledPlan(Session& session, std::vector<FusionOp const*> const& operators, TensorDescriptor const& x,
                 TensorDescriptor const& y);

    /// Workspace bytes of a run.
    std::size_t workspace_bytes() const { return bytes; }

    /// Runs on the session's stream, into a tensor of y's extents and type and of any strides; allocates nothing if the
    /// launch is prepared. Throws Failure with the output unchanged.
    void run(Session& session, OperatorArguments const& arguments, void const* from, TensorDescriptor const& output,
             void* to, WorkspaceView caller_workspace);

private:
    struct Operator {
        runtime::Kind kind;
        OpValues values;  ///< arguments of the prepared launch
    };

    runtime::Handle<Device> plan;
    std::vector<Operator> operators;
    std::vector<runtime::Arguments> tensors;  ///< layouts of the operators' tensors, without pointers
    runtime::View x;
    std::size_t bytes = 0;
    runtime::Run<Device> launch;  ///< null until prepared
    TensorDescriptor y;  ///< layout of the prepared launch
    int alignment = 0;  ///< of x and y in the prepared launch, in bytes

    void prepare(Session& session);
    /// Throws Failure if a run's workspace overlaps one of its tensors.
    void check_apart(WorkspaceView caller_workspace, void const* from, void const* to) const;
};

}  // namespace fusekit::compat
