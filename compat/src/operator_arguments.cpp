// SPDX-License-Identifier: MIT
#include "operator_arguments.hpp"

#include <cstring>

namespace fusekit::compat {

void OperatorArguments::set(OpValues const& values) {
    for (OpValues& each : all)
        if (each.op == values.op) {
            each = values;
            return;
        }
    std::erase_if(all, [](OpValues const& each) { return !ObjectTable::instance().find(ObjectKind::op, each.op); });
    all.push_back(values);
}

namespace {

using runtime::Role;

/// Tensor that the application passes for an operator, and its role.
struct Given {
    Role role;
    void const* data;
    char const* argument;
    bool optional = false;
};

/// Stores an operator's arguments in `args`. Throws Failure and stores nothing if a required tensor is null.
void set(miopenOperatorArgs_t args, miopenFusionOpDescriptor_t handle, char const* argument, runtime::Kind kind,
         std::initializer_list<Given> tensors, double alpha = 0, double beta = 0, double gamma = 0,
         double epsilon = 1e-5, double momentum = 0) {
    OperatorArguments& arguments = get<OperatorArguments>(args, "args");
    FusionOp const& op = get<FusionOp>(handle, argument);
    bool const repeated_bias = kind == runtime::Kind::bias && op.descriptor.kind == runtime::Kind::residual;
    if (op.descriptor.kind != kind && !repeated_bias)
        fail(miopenStatusBadParm,
             Text(argument) + ": expected " + name_of(kind) + ", got " + name_of(op.descriptor.kind));
    OpValues values;
    std::memset(&values, 0, sizeof values);
    values.op = op.handle;
    values.alpha = alpha, values.beta = beta, values.gamma = gamma;
    values.epsilon = epsilon, values.momentum = momentum;
    for (Given const& tensor : tensors) {
        bool const running = tensor.role == Role::running_mean || tensor.role == Role::running_variance;
        if (running && !op.keeps_running) continue;  // not stored: the run then does not write to it
        bool const empty = tensor.role == Role::x ? op.empty_x : op.parameters.size() == 0;
        if (!tensor.data && !tensor.optional && !empty)
            fail(miopenStatusBadParm, Text(tensor.argument) + ": expected a pointer, got null");
        values[repeated_bias ? Role::z : tensor.role] = const_cast<void*>(tensor.data);
    }
    arguments.set(values);
}

}  // namespace
}  // namespace fusekit::compat

using namespace fusekit::compat;
namespace runtime = fusekit::runtime;

extern "C" {

miopenStatus_t miopenCreateOperatorArgs(miopenOperatorArgs_t* args) {
    return guard(__func__, [&] { give_handle(args, "args", std::make_unique<OperatorArguments>()); });
}

miopenStatus_t miopenDestroyOperatorArgs(miopenOperatorArgs_t args) {
    return guard(__func__, [&] { destroy<OperatorArguments>(args, "args"); });
}

miopenStatus_t miopenSetOpArgsConvForward(miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t convOp,
                                          void const*, void const*, void const* w) {
    return guard(__func__,
                 [&] { set(args, convOp, "convOp", runtime::Kind::conv, {{runtime::Role::weights, w, "w"}}); });
}

miopenStatus_t miopenSetOpArgsBiasForward(miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t biasOp,
                                          void const*, void const*, void const* bias) {
    return guard(__func__,
                 [&] { set(args, biasOp, "biasOp", runtime::Kind::bias, {{runtime::Role::bias, bias, "bias"}}); });
}

miopenStatus_t miopenSetOpArgsActivForward(miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t activFwdOp,
                                           void const*, void const*, double activAlpha, double activBeta,
                                           double activGamma) {
    return guard(__func__, [&] {
        set(args, activFwdOp, "activFwdOp", runtime::Kind::activation, {}, activAlpha, activBeta, activGamma);
    });
}

miopenStatus_t miopenSetOpArgsActivBackward(miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t activBwdOp,
                                            void const*, void const*, void const*, void const*, double activAlpha,
                                            double activBeta, double activGamma) {
    return guard(__func__, [&] {
        set(args, activBwdOp, "activBwdOp", runtime::Kind::activation_backward, {}, activAlpha, activBeta, activGamma);
    });
}

miopenStatus_t miopenSetOpArgsBatchNormInference(miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t bnOp,
                                                 void const*, void const*, void const* bnScale, void const* bnBias,
                                                 void const* estimatedMean, void const* estimatedVariance,
                                                 double epsilon) {
    return guard(__func__, [&] {
        set(args, bnOp, "bnOp", runtime::Kind::batch_norm_inference,
            {{runtime::Role::scale, bnScale, "bnScale"},
             {runtime::Role::shift, bnBias, "bnBias"},
             {runtime::Role::mean, estimatedMean, "estimatedMean"},
             {runtime::Role::variance, estimatedVariance, "estimatedVariance"}},
            0, 0, 0, epsilon);
    });
}

miopenStatus_t miopenSetOpArgsBatchNormForward(miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t bnOp,
                                               void const*, void const*, void const* bnScale, void const* bnBias,
                                               void* savedMean, void* savedInvVariance, void* runningMean,
                                               void* runningVariance, double expAvgFactor, double epsilon) {
    return guard(__func__, [&] {
        set(args, bnOp, "bnOp", runtime::Kind::batch_norm_training,
            {{runtime::Role::scale, bnScale, "bnScale"},
             {runtime::Role::shift, bnBias, "bnBias"},
             {runtime::Role::saved_mean, savedMean, "savedMean", true},
             {runtime::Role::saved_inverse_deviation, savedInvVariance, "savedInvVariance", true},
             {runtime::Role::running_mean, runningMean, "runningMean"},
             {runtime::Role::running_variance, runningVariance, "runningVariance"}},
            0, 0, 0, epsilon, expAvgFactor);
    });
}

miopenStatus_t miopenSetOpArgsBatchNormBackward(miopenOperatorArgs_t args, const miopenFusionOpDescriptor_t bnOp,
                                                void const*, void const*, void const* x, void const* bnScale,
                                                void const* bnBias, void* resultBnScaleDiff, void* resultBnBiasDiff,
                                                void const* savedMean, void const* savedInvVariance) {
    return guard(__func__, [&] {
        set(args, bnOp, "bnOp", runtime::Kind::batch_norm_backward,
            {{runtime::Role::x, x, "x"},
             {runtime::Role::scale, bnScale, "bnScale"},
             {runtime::Role::shift, bnBias, "bnBias"},
             {runtime::Role::scale_gradient, resultBnScaleDiff, "resultBnScaleDiff"},
             {runtime::Role::shift_gradient, resultBnBiasDiff, "resultBnBiasDiff"},
             {runtime::Role::saved_mean, savedMean, "savedMean"},
             {runtime::Role::saved_inverse_deviation, savedInvVariance, "savedInvVariance"}});
    });
}
}
