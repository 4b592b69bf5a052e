// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <utility>

#include "activation_descriptor.hpp"
#include "convolution_descriptor.hpp"
#include "fusion_op.hpp"
#include "plans.hpp"
#include "session.hpp"

namespace fusekit::compat {
namespace {

using runtime::Role;

/// The float that a scaling factor points to; 1 where it is null.
float factor(void const* pointer) {
    float value = 1;
    if (pointer) std::memcpy(&value, pointer, sizeof value);
    return value;
}

/// Operators and their arguments, in order.
class Sequence {
public:
    runtime::Arguments& add(runtime::Descriptor const& descriptor) {
        descriptors.push_back(descriptor);
        return arguments.emplace_back();
    }
    std::vector<runtime::Descriptor> descriptors;
    std::vector<runtime::Arguments> arguments;
};

/// Refuses extents that are not the expected ones.
void check_shape(TensorDescriptor const& given, TensorDescriptor const& expected, char const* argument) {
    if (!given.has_shape_of(expected))
        fail(miopenStatusBadParm, Text(argument) + ": expected " + expected.shape() + ", got " + given.shape());
}

/// A bias as a tensor like y: the same at every place.
runtime::View at_every_place(runtime::View bias, runtime::View const& y) {
    for (int mode = 0; mode < y.rank; ++mode) {
        if (mode != 1) bias.strides[mode] = 0;
        bias.extents[mode] = y.extents[mode];
    }
    return bias;
}

}  // namespace
}  // namespace fusekit::compat

using namespace fusekit::compat;
namespace fk = fusekit;
using fk::runtime::Role;

extern "C" miopenStatus_t miopenConvolutionBiasActivationForward(
    miopenHandle_t handle, void const* alpha1, const miopenTensorDescriptor_t xDesc, void const* x,
    const miopenTensorDescriptor_t wDesc, void const* w, const miopenConvolutionDescriptor_t convDesc,
    miopenConvFwdAlgorithm_t, void* workspace, size_t workspaceSizeInBytes, void const* alpha2,
    const miopenTensorDescriptor_t zDesc, void const* z, const miopenTensorDescriptor_t biasDesc, void const* bias,
    const miopenActivationDescriptor_t activationDesc, const miopenTensorDescriptor_t yDesc, void* y) {
    return guard(__func__, [&] {
        Session& session = get<Session>(handle, "handle");
        TensorDescriptor const &input = get_set(xDesc, "xDesc"), &weights = get_set(wDesc, "wDesc");
        TensorDescriptor const &parameters = get_set(biasDesc, "biasDesc"), &output = get_set(yDesc, "yDesc");
        ConvolutionDescriptor const& convolution = get_set(convDesc, "convDesc");
        ActivationDescriptor const& activation = get_set(activationDesc, "activationDesc");
        TensorDescriptor const expected = convolution.output(input, weights);
        check_shape(output, expected, "yDesc");
        check_shape(parameters, batch_norm_parameters(expected, miopenBNSpatial), "biasDesc");
        require(factor(alpha1) != 0, miopenStatusBadParm,
                "alpha1: expected a float other than 0, got 0, which is how a double of 1 begins");

        fk::runtime::View const from = view_of(input, x, "x"), to = view_of(output, y, "y");
        fk::runtime::View const term = view_of(parameters, bias, "bias");
        float const of_convolution = factor(alpha1), of_z = factor(alpha2);

        Sequence plan;
        plan.add(fk::runtime::conv(convolution.filter(weights)))[Role::weights] = view_of(weights, w, "w");
        if (of_convolution != 1) plan.add(fk::runtime::scale()).factor = double{of_convolution};
        // The library's plan that scales has a residual: where there is no z, that is the bias.
        if (of_convolution == 1 || of_z != 0) plan.add(fk::runtime::bias())[Role::bias] = term;
        else plan.add(fk::runtime::residual())[Role::z] = at_every_place(term, to);
        if (of_z != 0) {
            TensorDescriptor const& added = get_set(zDesc, "zDesc");
            check_shape(added, expected, "zDesc");
            auto& residual = plan.add(fk::runtime::residual());
            residual[Role::z] = view_of(added, z, "z");
            residual.factor = double{of_z};
        }
        auto& last = plan.add(fk::runtime::activation(static_cast<fk::runtime::ActivationMode>(activation.mode)));
        last.alpha = activation.alpha, last.beta = activation.beta, last.gamma = activation.gamma;

        auto const found = find_plan(plan.descriptors, {from.type, to.type, plan.arguments[0][Role::weights].type});
        fk::runtime::Run<Device> run;
        check(found.prepare(session.queue.stream(), plan.arguments, from, to, run, alignment_of(x, y)));
        fk::WorkspaceView const lent = {workspace, std::min(workspaceSizeInBytes, run->workspace_bytes())};
        check_apart(lent, from, "x"), check_apart(lent, to, "y");
        for (auto const& of : plan.arguments)
            for (int role = 0; role < fk::runtime::roles; ++role)
                check_apart(lent, of.tensors[role], fk::runtime::name(static_cast<Role>(role)));
        check(run->run(session.queue.stream(), x, y, session.workspace(run->workspace_bytes(), lent)));
    });
}
