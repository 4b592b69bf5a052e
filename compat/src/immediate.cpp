// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "activation_descriptor.hpp"
#include "convolution_descriptor.hpp"
#include "fusion_op.hpp"
#include "launches.hpp"

namespace fusekit::compat {
namespace {

using runtime::Role;

/// Returns the float to which a pointer to a scaling factor points; 1 if the pointer is null.
float factor(void const* pointer) {
    float value = 1;
    if (pointer) std::memcpy(&value, pointer, sizeof value);
    return value;
}

/// Operators of a call and their arguments, in order.
class Sequence {
public:
    runtime::Arguments& add(runtime::Descriptor const& descriptor) {
        descriptors.push_back(descriptor);
        return arguments.emplace_back();
    }
    std::vector<runtime::Descriptor> descriptors;
    std::vector<runtime::Arguments> arguments;
};

/// Throws Failure if a tensor has other extents than `expected`.
void check_shape(TensorDescriptor const& given, TensorDescriptor const& expected, char const* argument) {
    if (!given.has_shape_of(expected))
        fail(miopenStatusBadParm, Text(argument) + ": expected " + expected.shape() + ", got " + given.shape());
}

/// A tensor that is added to y, bias or z, broadcast over modes of extent 1.
struct Term {
    TensorDescriptor layout;    ///< layout of the tensor broadcast to y
    TensorDescriptor channels;  ///< layout of the tensor broadcast to 1 x C x 1 x 1, if per_channel
    void const* data;
    char const* argument;
    float factor;
    bool per_channel;  ///< true for one value per channel, and for a scalar

    Term(TensorDescriptor const& given, void const* the_data, float the_factor, TensorDescriptor const& y,
         char const* descriptor, char const* the_argument)
        : data(the_data), argument(the_argument), factor(the_factor), per_channel(given.is_per_channel()) {
        if (!given.broadcasts_to(y))
            fail(miopenStatusBadParm,
                 Text(descriptor) + ": expected " + y.shape() + " with 1 in any mode, got " + given.shape());
        layout = given.broadcast_to(y);
        if (per_channel) channels = given.broadcast_to(batch_norm_parameters(y, miopenBNSpatial));
    }

    /// Adds a Residual with this tensor to the operators.
    void add_to(Sequence& plan) const {
        runtime::Arguments& residual = plan.add(runtime::residual());
        residual[Role::z] = view_of(layout, data, argument);
        residual.factor = double{factor};
    }
    /// Adds a Bias with this tensor to the operators. Precondition: per_channel is true and the factor is 1.
    void add_as_bias(Sequence& plan) const {
        plan.add(runtime::bias())[Role::bias] = view_of(channels, data, argument);
    }
};

/// Adds bias and z to the operators. The library's plan has one Bias and one Residual, and requires the Residual after
/// a Scale. Two Residuals are two launches (launches.hpp), of which the first may add y itself.
void add_terms(Sequence& plan, Term const& bias, std::optional<Term> const& z, bool scaled, void const* y) {
    if (bias.per_channel && (z || !scaled)) {
        bias.add_as_bias(plan);
        if (z) z->add_to(plan);
    } else if (z && z->per_channel && z->factor == 1) {
        z->add_as_bias(plan);
        bias.add_to(plan);
    } else {
        bool const bias_first = !z || bias.data == y;
        if (!bias_first) z->add_to(plan);
        bias.add_to(plan);
        if (z && bias_first) z->add_to(plan);
    }
}

/// True if a call adds no z: its factor is 0, or z is null and its descriptor is null or was never set.
bool is_without_z(float factor, miopenTensorDescriptor_t descriptor, void const* z) {
    if (factor == 0) return true;
    return !z && (!descriptor || get<TensorDescriptor>(descriptor, "zDesc").rank == 0);
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
        float const of_convolution = factor(alpha1), of_z = factor(alpha2);
        require(of_convolution != 0, miopenStatusBadParm,
                "alpha1: expected a float other than 0, got 0: if it points to a double, pass a float");
        Term const term(parameters, bias, 1, expected, "biasDesc", "bias");
        std::optional<Term> residual;
        if (!is_without_z(of_z, zDesc, z)) residual.emplace(get_set(zDesc, "zDesc"), z, of_z, expected, "zDesc", "z");

        fk::runtime::View const from = view_of(input, x, "x"), to = view_of(output, y, "y");
        Sequence plan;
        plan.add(fk::runtime::conv(convolution.filter(weights)))[Role::weights] = view_of(weights, w, "w");
        if (of_convolution != 1) plan.add(fk::runtime::scale()).factor = double{of_convolution};
        add_terms(plan, term, residual, of_convolution != 1, y);
        auto& last = plan.add(fk::runtime::activation(static_cast<fk::runtime::ActivationMode>(activation.mode)));
        last.alpha = activation.alpha, last.beta = activation.beta, last.gamma = activation.gamma;

        Launches launches(session, plan.descriptors, {from.type, to.type, plan.arguments[0][Role::weights].type});
        launches.prepare(session, plan.arguments, from, to, alignment_of(x, y));
        std::size_t const needed = launches.workspace_bytes();
        fk::WorkspaceView const caller_workspace = {workspace, std::min(workspaceSizeInBytes, needed)};
        check_apart(caller_workspace, from, "x"), check_apart(caller_workspace, to, "y");
        for (auto const& of : plan.arguments)
            for (int role = 0; role < fk::runtime::roles; ++role)
                check_apart(caller_workspace, of.tensors[role], fk::runtime::name(static_cast<Role>(role)));
        launches.run(session, x, y, session.workspace(needed, caller_workspace));
    });
}
