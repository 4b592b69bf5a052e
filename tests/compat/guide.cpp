// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include "compat/fused.hpp"
#include "support/filled.hpp"

using namespace test::miopen;
using namespace test;

namespace {

/// The program of MIOpen's guide to fusion, call by call, on small odd extents.
void follow_guide(fk::DataType type, std::string const& x_layout, std::string const& w_layout) {
    oracle::Shape const x_shape{2, 6, 11, 9};
    oracle::Window const window{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1, .u = 2, .v = 2};
    std::int64_t const k = 5;
    oracle::Shape const y_shape{2, k, window.output_height(11), window.output_width(9)};
    auto const x_layout_of = layout_of<4>(x_layout, x_shape);
    auto const w_layout_of = layout_of<4>(w_layout, {k, x_shape.c, 3, 3});
    auto const y_layout_of = layout_of<4>(x_layout, y_shape);

    auto const x_values = integers(x_shape.size(), -2, 2, 1), w_values = integers(w_layout_of.size(), -2, 2, 2),
               bias_values = integers(k, -9, 9, 3);
    DeviceTensor input(type, x_layout_of, x_values), weights(type, w_layout_of, w_values),
        bias(type, fk::nchw(1, k, 1, 1), bias_values), output(type, y_layout_of);

    // Descriptors.
    miopenHandle_t handle;
    succeeds(miopenCreate(&handle));
    miopenConvolutionDescriptor_t conv_desc;
    succeeds(miopenCreateConvolutionDescriptor(&conv_desc));
    succeeds(miopenInitConvolutionDescriptor(conv_desc, miopenConvolution, 1, 1, 2, 2, 1, 1));
    int n, c, h, w;
    succeeds(miopenGetConvolutionForwardOutputDim(conv_desc, input.descriptor, weights.descriptor, &n, &c, &h, &w));
    CHECK((n == y_shape.n && c == y_shape.c && h == y_shape.h && w == y_shape.w));

    // The plan: convolution, bias, activation.
    miopenFusionPlanDescriptor_t plan;
    succeeds(miopenCreateFusionPlan(&plan, miopenVerticalFusion, input.descriptor));
    miopenFusionOpDescriptor_t conv_op, bias_op, activ_op;
    succeeds(miopenCreateOpConvForward(plan, &conv_op, conv_desc, weights.descriptor));
    succeeds(miopenCreateOpBiasForward(plan, &bias_op, bias.descriptor));
    succeeds(miopenCreateOpActivationForward(plan, &activ_op, miopenActivationRELU));
    int algorithms = 0;
    miopenConvFwdAlgorithm_t algorithm[2];
    succeeds(miopenFusionPlanConvolutionGetAlgo(plan, 2, &algorithms, algorithm));
    REQUIRE(algorithms == 1);
    succeeds(miopenFusionPlanConvolutionSetAlgo(plan, algorithm[0]));
    succeeds(miopenCompileFusionPlan(handle, plan));
    std::size_t workspace_bytes = 1;
    succeeds(miopenFusionPlanGetWorkSpaceSize(handle, plan, &workspace_bytes, algorithm[0]));

    // Arguments.
    miopenOperatorArgs_t args;
    succeeds(miopenCreateOperatorArgs(&args));
    float const alpha = 1, beta = 0;
    succeeds(miopenSetOpArgsConvForward(args, conv_op, &alpha, &beta, weights.data()));
    succeeds(miopenSetOpArgsActivForward(args, activ_op, &alpha, &beta, 0, 0, 0));
    succeeds(miopenSetOpArgsBiasForward(args, bias_op, &alpha, &beta, bias.data()));

    // Execute.
    succeeds(
        miopenExecuteFusionPlan(handle, plan, input.descriptor, input.data(), output.descriptor, output.data(), args));
    auto const expected = [&](std::vector<double> const& x, std::vector<double> const& weights_of,
                              std::vector<double> const& bias_of, char const* mode) {
        auto const sum = oracle::bias(oracle::conv({x_shape, x}, weights_of, k, window), bias_of);
        return oracle::activation(sum, {mode});
    };
    CHECK(difference(expected(x_values, w_values, bias_values, "relu"), output.memory.fetch()) == "");

    // Runs again on other tensors and other arguments, without compiling.
    auto const x_others = integers(x_shape.size(), -2, 2, 4), w_others = integers(w_layout_of.size(), -2, 2, 5),
               bias_others = integers(k, -9, 9, 6);
    DeviceTensor next_input(type, x_layout_of, x_others), next_weights(type, w_layout_of, w_others),
        next_bias(type, fk::nchw(1, k, 1, 1), bias_others), next_output(type, y_layout_of);
    succeeds(miopenSetOpArgsConvForward(args, conv_op, &alpha, &beta, next_weights.data()));
    succeeds(miopenSetOpArgsBiasForward(args, bias_op, &alpha, &beta, next_bias.data()));
    succeeds(miopenExecuteFusionPlan_v2(handle, plan, next_input.descriptor, next_input.data(), next_output.descriptor,
                                        next_output.data(), args, nullptr, 0));
    CHECK(difference(expected(x_others, w_others, bias_others, "relu"), next_output.memory.fetch()) == "");

    succeeds(miopenDestroyOperatorArgs(args));
    succeeds(miopenDestroyFusionPlan(plan));
    succeeds(miopenDestroyConvolutionDescriptor(conv_desc));
    succeeds(miopenDestroy(handle));
}

}  // namespace

TEST_CASE("MIOpen: the program of its guide gives the oracle's result") {
    follow_guide(fk::DataType::float32, "nchw", "kcrs");
}

TEST_CASE("MIOpen: the program of its guide gives the oracle's result, channels last and in half") {
    follow_guide(fk::DataType::float32, "nhwc", "krsc");
    if (has_plans_of(fk::DataType::float16)) follow_guide(fk::DataType::float16, "nhwc", "krsc");
}
