// SPDX-License-Identifier: MIT
#include "fusion_plan.hpp"

namespace fusekit::compat {
namespace {

/// Throws Failure if a tensor's element type or extents differ from those of the plan's tensor.
void check_is(TensorDescriptor const& given, TensorDescriptor const& expected, char const* argument) {
    auto const words = [&](TensorDescriptor const& tensor) {
        return given.type == expected.type ? tensor.shape() : "elements of " + name_of(tensor.type);
    };
    if (given.type != expected.type || !given.has_shape_of(expected))
        fail(miopenStatusBadParm,
             Text(argument) + ": expected the plan's, " + words(expected) + ", got " + words(given));
}

void execute(miopenHandle_t handle, miopenFusionPlanDescriptor_t plan_handle, miopenTensorDescriptor_t inputDesc,
             void const* input, miopenTensorDescriptor_t outputDesc, void* output, miopenOperatorArgs_t args,
             WorkspaceView caller_workspace) {
    Session& session = get<Session>(handle, "handle");
    FusionPlan const& plan = get<FusionPlan>(plan_handle, "fusePlanDesc");
    OperatorArguments const& arguments = get<OperatorArguments>(args, "args");
    auto const compiled = plan.compiled_for(handle);
    require(
        compiled != nullptr, miopenStatusBadParm,
        "fusePlanDesc: expected a plan that was compiled for this handle after its last operator was added, got one "
        "that was not");
    TensorDescriptor const &x = get_set(inputDesc, "inputDesc"), &y = get_set(outputDesc, "outputDesc");
    check_is(x, plan.input(), "inputDesc");
    check_is(y, plan.output(), "outputDesc");
    if (!(x == plan.input()))
        fail(miopenStatusBadParm,
             "inputDesc: expected the plan's, strides of " + plan.input().steps() + ", got strides of " + x.steps());
    require(input || x.size() == 0, miopenStatusBadParm, "input: expected a pointer, got null");
    require(output || y.size() == 0, miopenStatusBadParm, "output: expected a pointer, got null");
    compiled->run(session, arguments, input, y, output, caller_workspace);
}

}  // namespace
}  // namespace fusekit::compat

using namespace fusekit::compat;

extern "C" {

miopenStatus_t miopenExecuteFusionPlan(const miopenHandle_t handle, const miopenFusionPlanDescriptor_t fusePlanDesc,
                                       const miopenTensorDescriptor_t inputDesc, void const* input,
                                       const miopenTensorDescriptor_t outputDesc, void* output,
                                       miopenOperatorArgs_t args) {
    return guard(__func__, [&] { execute(handle, fusePlanDesc, inputDesc, input, outputDesc, output, args, {}); });
}

miopenStatus_t miopenExecuteFusionPlan_v2(const miopenHandle_t handle, const miopenFusionPlanDescriptor_t fusePlanDesc,
                                          const miopenTensorDescriptor_t inputDesc, void const* input,
                                          const miopenTensorDescriptor_t outputDesc, void* output,
                                          miopenOperatorArgs_t args, void* workspace, size_t workspaceSize) {
    return guard(__func__, [&] {
        execute(handle, fusePlanDesc, inputDesc, input, outputDesc, output, args, {workspace, workspaceSize});
    });
}
}
