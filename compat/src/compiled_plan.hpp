// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "fusion_op.hpp"
#include "operator_arguments.hpp"
#include "session.hpp"

namespace fusekit::compat {

/// A plan of the library that is found for a sequence of operators: on tensors of these layouts, for one session.
///
/// A run that is given what the last was given, but for the places of x and y, starts the launch that is prepared
/// already: pointers to weights seldom change. Any other prepares its own.
class CompiledPlan {
public:
    /// `x` and `y` are the input's and the output's layouts. Failure where the library has no such plan, or the plan
    /// refuses these layouts.
    CompiledPlan(Session& session, std::vector<FusionOp const*> const& operators, TensorDescriptor const& x,
                 TensorDescriptor const& y);

    /// The bytes that runs borrow.
    std::size_t workspace_bytes() const { return bytes; }

    /// Runs on the session's stream, into a tensor of y's extents and type and of any strides; allocates nothing where
    /// the launch is prepared. Failure leaves the output as it was.
    void run(Session& session, OperatorArguments const& arguments, void const* from, TensorDescriptor const& output,
             void* to, WorkspaceView lent);

private:
    struct Operator {
        runtime::Kind kind;
        OpValues values;  ///< what the launch is prepared for
    };

    runtime::Handle<Device> plan;
    std::vector<Operator> operators;
    std::vector<runtime::Arguments> tensors;  ///< of the operators: their layouts, without pointers
    runtime::View x;
    std::size_t bytes = 0;
    runtime::Run<Device> launch;  ///< null until one is prepared
    TensorDescriptor y;  ///< that it is prepared for
    int alignment = 0;  ///< of x and y, that it is prepared for

    void prepare(Session& session);
    /// Failure where memory that a run is lent is one of its tensors, too.
    void check_apart(WorkspaceView lent, void const* from, void const* to) const;
};

}  // namespace fusekit::compat
