// SPDX-License-Identifier: MIT
#include "compiled_plan.hpp"

#include <algorithm>
#include <cstring>

namespace fusekit::compat {
namespace {

using runtime::Role;

/// Returns the library's plans for operators on these tensors. Throws Failure if there are none.
Launches find(Session const& session, std::vector<FusionOp const*> const& operators, TensorDescriptor const& x) {
    std::vector<runtime::Descriptor> descriptors;
    DataType const type = element_type(x.type, "inputDesc");
    DataType weights = type;
    for (FusionOp const* op : operators) {
        descriptors.push_back(op->descriptor);
        if (op->descriptor.kind == runtime::Kind::conv) weights = element_type(op->parameters.type, "wDesc");
    }
    return {session, descriptors, {type, type, weights}};
}

/// True if a tensor of this role is an optional output of the operator. Compilation omits these
/// tensors, because their stand-in addresses (tensor/stand_in.hpp) may overlap.
bool is_written(runtime::Kind kind, Role role) {
    bool const statistics = role == Role::saved_mean || role == Role::saved_inverse_deviation ||
                            role == Role::running_mean || role == Role::running_variance;
    return kind == runtime::Kind::batch_norm_training ? statistics
                                                      : role == Role::scale_gradient || role == Role::shift_gradient;
}

bool has_no_elements(runtime::View const& view) {
    return std::find(view.extents, view.extents + view.rank, 0) != view.extents + view.rank;
}

}  // namespace

CompiledPlan::CompiledPlan(Session const& session, std::vector<FusionOp const*> const& the_operators,
                           TensorDescriptor const& the_x, TensorDescriptor const& the_y)
    : launches(find(session, the_operators, the_x)), x(view_of(the_x)), y(the_y) {
    std::vector<runtime::Arguments> read;
    for (FusionOp const* op : the_operators) {
        operators.push_back({op->descriptor.kind, {}});
        operators.back().values.op = op->handle;
        tensors.push_back(op->tensors(the_x));
        read.push_back(tensors.back());
        for (int role = 0; role < runtime::roles; ++role)
            if (is_written(op->descriptor.kind, static_cast<Role>(role))) read.back().tensors[role] = {};
    }
    bytes = launches.compile(session, read, x, view_of(y));
}

void CompiledPlan::run(Session& session, OperatorArguments const& arguments, void const* from,
                       TensorDescriptor const& output, void* to, WorkspaceView caller_workspace) {
    for (std::size_t i = 0; i < operators.size(); ++i) {
        OpValues const* const given = arguments.find(operators[i].values.op);
        if (!given)
            fail(miopenStatusNotInitialized, "args: expected arguments of operator " +
                                                 Text::number(static_cast<int>(i)) + ", " + name_of(operators[i].kind) +
                                                 ", got none");
        if (std::memcmp(given, &operators[i].values, sizeof *given) == 0) continue;
        launches.reset();
        operators[i].values = *given;
    }
    int const aligned = alignment_of(from, to);
    if (!launches.are_prepared() || aligned != alignment || !(output == y)) {
        launches.reset();
        alignment = aligned, y = output;
        prepare(session);
    }
    if (caller_workspace.data) check_apart(caller_workspace, from, to);
    WorkspaceView const borrowed = session.workspace(launches.workspace_bytes(), caller_workspace);
    launches.run(session, from, to, borrowed);
}

void CompiledPlan::check_apart(WorkspaceView caller_workspace, void const* from, void const* to) const {
    auto const check = [&](runtime::View view, void const* data, char const* argument) {
        view.data = const_cast<void*>(data);
        compat::check_apart(caller_workspace, view, argument);
    };
    caller_workspace.bytes = std::min(caller_workspace.bytes, launches.workspace_bytes());
    check(x, from, "input");
    check(view_of(y), to, "output");
    for (std::size_t i = 0; i < operators.size(); ++i)
        for (int role = 0; role < runtime::roles; ++role)
            check(tensors[i].tensors[role], operators[i].values.tensors[role], runtime::name(static_cast<Role>(role)));
}

void CompiledPlan::prepare(Session& session) {
    std::vector<runtime::Arguments> given = tensors;
    for (std::size_t i = 0; i < operators.size(); ++i) {
        OpValues const& values = operators[i].values;
        for (int role = 0; role < runtime::roles; ++role) {
            runtime::View& view = given[i].tensors[role];
            view.data = values.tensors[role];
            if (!view.data && !has_no_elements(view)) view = {};
            else check_address(view, runtime::name(static_cast<Role>(role)));
        }
        given[i].alpha = values.alpha, given[i].beta = values.beta, given[i].gamma = values.gamma;
        given[i].epsilon = values.epsilon, given[i].momentum = values.momentum;
    }
    launches.prepare(session, given, x, view_of(y), alignment);
}

}  // namespace fusekit::compat
