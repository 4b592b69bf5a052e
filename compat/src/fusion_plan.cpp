// SPDX-License-Identifier: MIT
#include "fusion_plan.hpp"

#include "activation_descriptor.hpp"
#include "convolution_descriptor.hpp"

namespace fusekit::compat {

FusionPlan::FusionPlan(TensorDescriptor const& the_input) : x(the_input), y(the_input) {
    image_layout(x, "inputDesc");
    element_type(x.type, "inputDesc");
}

FusionPlan::~FusionPlan() {
    for (auto const& op : operators) ObjectTable::instance().erase(op->handle);
}

bool FusionPlan::has(runtime::Kind wanted) const {
    for (auto const& op : operators)
        if (op->descriptor.kind == wanted) return true;
    return false;
}

runtime::Explanation FusionPlan::explain(runtime::Descriptor const& next) const {
    std::vector<runtime::Descriptor> descriptors;
    for (auto const& each : operators) descriptors.push_back(each->descriptor);
    descriptors.push_back(next);
    runtime::Descriptors const all = descriptors;
    int const second = second_launch(all);
    return second == all.size ? explain_beginning(all) : explain_beginning({all.data + second, all.size - second});
}

FusionOp const& FusionPlan::add(FusionOp op, TensorDescriptor const& output) {
    if (auto const why = explain(op.descriptor); !why) fail(miopenStatusUnsupportedOp, why.error().what());

    operators.reserve(operators.size() + 1);
    auto added = std::make_unique<FusionOp>(op);
    added->handle = ObjectTable::instance().insert(ObjectKind::op, added.get());
    if (!added->handle) fail(miopenStatusAllocFailed, "expected at most 16777216 objects at a time, got one more");
    operators.push_back(std::move(added));
    y = output;
    std::lock_guard const lock(mutex);
    compiled.clear();
    return *operators.back();
}

std::shared_ptr<CompiledPlan> FusionPlan::compile_once(Session const& session) const {
    std::vector<FusionOp const*> all;
    for (auto const& op : operators) all.push_back(op.get());
    return std::make_shared<CompiledPlan>(session, all, x, y);
}

void FusionPlan::compile(miopenHandle_t handle, Session& session) {
    auto plan = compile_once(session);
    std::lock_guard const lock(mutex);
    std::erase_if(compiled, [&](Compiled const& each) {
        return each.handle == handle || !ObjectTable::instance().find(Session::kind, number_of(each.handle));
    });
    compiled.push_back({handle, std::move(plan)});
}

std::shared_ptr<CompiledPlan> FusionPlan::compiled_for(miopenHandle_t handle) const {
    std::lock_guard const lock(mutex);
    for (Compiled const& each : compiled)
        if (each.handle == handle) return each.plan;
    return nullptr;
}

namespace {

/// Adds an operator to a plan and stores its handle in *to. Throws Failure and adds nothing if `to` is null.
void add(miopenFusionPlanDescriptor_t plan, miopenFusionOpDescriptor_t* to, char const* argument, FusionOp const& op,
         TensorDescriptor const& output) {
    auto& target = at(to, argument);
    FusionOp const& added = get<FusionPlan>(plan, "fusePlanDesc").add(op, output);
    target = reinterpret_cast<miopenFusionOpDescriptor_t>(added.handle);
}

/// Returns the layout of the result of the operators that a plan has so far.
TensorDescriptor const& output_of(miopenFusionPlanDescriptor_t plan) {
    return get<FusionPlan>(plan, "fusePlanDesc").output();
}

/// Returns the operator that adds a bias: a Bias for a scalar or one value per channel, else a broadcast Residual.
FusionOp bias_op(TensorDescriptor const& bias, FusionPlan const& plan) {
    TensorDescriptor const& output = plan.output();
    if (!bias.broadcasts_to(output))
        fail(miopenStatusBadParm, "bDesc: expected " + batch_norm_parameters(output, miopenBNSpatial).shape() +
                                      ", or " + output.shape() + " with 1 in any mode, got " + bias.shape());
    require(!plan.has(runtime::Kind::bias) && !plan.has(runtime::Kind::residual), miopenStatusUnsupportedOp,
            "biasOp: expected one bias in a plan, got a second");
    if (bias.is_per_channel()) {
        TensorDescriptor const channels = bias.broadcast_to(batch_norm_parameters(output, miopenBNSpatial));
        return {runtime::bias(), channels};
    }
    if (auto const why = plan.explain(runtime::bias()); !why) fail(miopenStatusUnsupportedOp, why.error().what());
    return {runtime::residual(), bias.broadcast_to(output)};
}

/// Throws Failure if parameters have other extents than `expected`, or elements other than float.
void check_parameters(TensorDescriptor const& given, TensorDescriptor const& expected, char const* argument) {
    if (given.has_shape_of(expected) && given.type == expected.type) return;
    fail(miopenStatusBadParm, Text(argument) + ": expected " + expected.shape() + " of float, got " + given.shape() +
                                  " of " + name_of(given.type));
}

runtime::NormMode norm_mode(miopenBatchNormMode_t mode) { return static_cast<runtime::NormMode>(mode); }
runtime::ActivationMode activation_mode(miopenActivationMode_t mode) {
    check(mode);
    return static_cast<runtime::ActivationMode>(mode);
}

}  // namespace
}  // namespace fusekit::compat

using namespace fusekit::compat;
namespace runtime = fusekit::runtime;

extern "C" {

miopenStatus_t miopenCreateFusionPlan(miopenFusionPlanDescriptor_t* fusePlanDesc,
                                      miopenFusionDirection_t const fuseDirection,
                                      const miopenTensorDescriptor_t inputDesc) {
    return guard(__func__, [&] {
        TensorDescriptor const& input = get_set(inputDesc, "inputDesc");
        require(fuseDirection == miopenVerticalFusion || fuseDirection == miopenHorizontalFusion,
                miopenStatusInvalidValue, "fuseDirection: expected a miopenFusionDirection_t, got another number");
        require(fuseDirection == miopenVerticalFusion, miopenStatusNotImplemented,
                "fuseDirection: expected miopenVerticalFusion, got miopenHorizontalFusion");
        give_handle(fusePlanDesc, "fusePlanDesc", std::make_unique<FusionPlan>(input));
    });
}

miopenStatus_t miopenDestroyFusionPlan(miopenFusionPlanDescriptor_t fusePlanDesc) {
    return guard(__func__, [&] { destroy<FusionPlan>(fusePlanDesc, "fusePlanDesc"); });
}

miopenStatus_t miopenFusionPlanGetOp(miopenFusionPlanDescriptor_t fusePlanDesc, int const op_idx,
                                     miopenFusionOpDescriptor_t* op) {
    return guard(__func__, [&] {
        FusionPlan const& plan = get<FusionPlan>(fusePlanDesc, "fusePlanDesc");
        if (op_idx < 0 || op_idx >= plan.size())
            fail(miopenStatusBadParm, "op_idx: expected an operator of " + fusekit::Text::number(plan.size()) +
                                          ", from 0, got " + fusekit::Text::number(op_idx));
        at(op, "op") = reinterpret_cast<miopenFusionOpDescriptor_t>(plan.op(op_idx).handle);
    });
}

miopenStatus_t miopenCompileFusionPlan(miopenHandle_t handle, miopenFusionPlanDescriptor_t fusePlanDesc) {
    return guard(__func__, [&] {
        Session& session = get<Session>(handle, "handle");
        get<FusionPlan>(fusePlanDesc, "fusePlanDesc").compile(handle, session);
    });
}

miopenStatus_t miopenFusionPlanGetWorkSpaceSize(miopenHandle_t handle, miopenFusionPlanDescriptor_t fusePlanDesc,
                                                size_t* workSpaceSize, miopenConvFwdAlgorithm_t) {
    return guard(__func__, [&] {
        Session& session = get<Session>(handle, "handle");
        FusionPlan const& plan = get<FusionPlan>(fusePlanDesc, "fusePlanDesc");
        at(workSpaceSize, "workSpaceSize");
        auto compiled = plan.compiled_for(handle);
        if (!compiled) compiled = plan.compile_once(session);
        *workSpaceSize = compiled->workspace_bytes();
    });
}

miopenStatus_t miopenFusionPlanConvolutionGetAlgo(miopenFusionPlanDescriptor_t fusePlanDesc, int const requestAlgoCount,
                                                  int* returnedAlgoCount, miopenConvFwdAlgorithm_t* returnedAlgos) {
    return guard(__func__, [&] {
        FusionPlan const& plan = get<FusionPlan>(fusePlanDesc, "fusePlanDesc");
        require(requestAlgoCount >= 0, miopenStatusInvalidValue, "requestAlgoCount: expected 0 or more, got fewer");
        at(returnedAlgoCount, "returnedAlgoCount");
        bool const one = requestAlgoCount > 0 && plan.has(runtime::Kind::conv);
        if (one) at(returnedAlgos, "returnedAlgos") = miopenConvolutionFwdAlgoImplicitGEMM;
        *returnedAlgoCount = one;
    });
}

miopenStatus_t miopenFusionPlanConvolutionSetAlgo(miopenFusionPlanDescriptor_t fusePlanDesc,
                                                  miopenConvFwdAlgorithm_t algo) {
    return guard(__func__, [&] {
        get<FusionPlan>(fusePlanDesc, "fusePlanDesc");
        require(algo >= miopenConvolutionFwdAlgoGEMM && algo <= miopenConvolutionFwdAlgoImplicitGEMM,
                miopenStatusInvalidValue, "algo: expected a miopenConvFwdAlgorithm_t, got another number");
    });
}

miopenStatus_t miopenCreateOpConvForward(miopenFusionPlanDescriptor_t fusePlanDesc, miopenFusionOpDescriptor_t* convOp,
                                         miopenConvolutionDescriptor_t convDesc, const miopenTensorDescriptor_t wDesc) {
    return guard(__func__, [&] {
        ConvolutionDescriptor const& convolution = get_set(convDesc, "convDesc");
        TensorDescriptor const& weights = get_set(wDesc, "wDesc");
        element_type(weights.type, "wDesc");
        FusionOp const op = {runtime::conv(convolution.filter(weights)), weights};
        add(fusePlanDesc, convOp, "convOp", op, convolution.output(output_of(fusePlanDesc), weights));
    });
}

miopenStatus_t miopenCreateOpBiasForward(miopenFusionPlanDescriptor_t fusePlanDesc, miopenFusionOpDescriptor_t* biasOp,
                                         const miopenTensorDescriptor_t bDesc) {
    return guard(__func__, [&] {
        TensorDescriptor const& bias = get_set(bDesc, "bDesc");
        FusionPlan const& plan = get<FusionPlan>(fusePlanDesc, "fusePlanDesc");
        element_type(bias.type, "bDesc");
        add(fusePlanDesc, biasOp, "biasOp", bias_op(bias, plan), plan.output());
    });
}

miopenStatus_t miopenCreateOpActivationForward(miopenFusionPlanDescriptor_t fusePlanDesc,
                                               miopenFusionOpDescriptor_t* activFwdOp, miopenActivationMode_t mode) {
    return guard(__func__, [&] {
        FusionOp const op = {runtime::activation(activation_mode(mode))};
        add(fusePlanDesc, activFwdOp, "activFwdOp", op, output_of(fusePlanDesc));
    });
}

miopenStatus_t miopenCreateOpActivationBackward(miopenFusionPlanDescriptor_t fusePlanDesc,
                                                miopenFusionOpDescriptor_t* activBwdOp, miopenActivationMode_t mode) {
    return guard(__func__, [&] {
        FusionOp const op = {runtime::activation_backward(activation_mode(mode))};
        add(fusePlanDesc, activBwdOp, "activBwdOp", op, output_of(fusePlanDesc));
    });
}

miopenStatus_t miopenCreateOpBatchNormInference(miopenFusionPlanDescriptor_t fusePlanDesc,
                                                miopenFusionOpDescriptor_t* bnOp, miopenBatchNormMode_t const bn_mode,
                                                const miopenTensorDescriptor_t bnScaleBiasMeanVarDesc) {
    return guard(__func__, [&] {
        TensorDescriptor const& parameters = get_set(bnScaleBiasMeanVarDesc, "bnScaleBiasMeanVarDesc");
        TensorDescriptor const& output = output_of(fusePlanDesc);
        check_parameters(parameters, batch_norm_parameters(output, bn_mode), "bnScaleBiasMeanVarDesc");
        add(fusePlanDesc, bnOp, "bnOp", {runtime::batch_norm_inference(norm_mode(bn_mode)), parameters}, output);
    });
}

miopenStatus_t miopenCreateOpBatchNormForward(miopenFusionPlanDescriptor_t fusePlanDesc,
                                              miopenFusionOpDescriptor_t* bnFwdOp, miopenBatchNormMode_t const bn_mode,
                                              bool runningMeanVariance) {
    return guard(__func__, [&] {
        TensorDescriptor const& output = output_of(fusePlanDesc);
        FusionOp const op = {runtime::batch_norm_training(norm_mode(bn_mode)), batch_norm_parameters(output, bn_mode),
                             runningMeanVariance};
        add(fusePlanDesc, bnFwdOp, "bnFwdOp", op, output);
    });
}

miopenStatus_t miopenCreateOpBatchNormBackward(miopenFusionPlanDescriptor_t fusePlanDesc,
                                               miopenFusionOpDescriptor_t* bnBwdOp,
                                               miopenBatchNormMode_t const bn_mode) {
    return guard(__func__, [&] {
        TensorDescriptor const& output = output_of(fusePlanDesc);
        FusionOp op = {runtime::batch_norm_backward(norm_mode(bn_mode)), batch_norm_parameters(output, bn_mode)};
        op.empty_x = output.size() == 0;
        add(fusePlanDesc, bnBwdOp, "bnBwdOp", op, output);
    });
}
}
