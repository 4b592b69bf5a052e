// SPDX-License-Identifier: MIT
// Replays the calls of MIOpen's driver for fused inference (ROCm/MIOpen, driver/CBAInferFusion_driver.hpp), in its
// order, with arguments of the same kinds.
#include <catch2/catch_test_macros.hpp>
#include <optional>

#include "compat/fused.hpp"
#include "support/filled.hpp"

using namespace test::miopen;
using namespace test;

namespace {

/// Fusion modes of the driver.
struct Mode {
    char const* letters;  ///< C a convolution, B a bias, N a batch norm, A an activation
    bool has(char letter) const { return std::string(letters).find(letter) != std::string::npos; }
};

/// One run of the driver. Operators' arguments are set before the plan is compiled; the plan is destroyed after its
/// descriptors, and the arguments after the plan.
void drive(Mode const mode, miopenBatchNormMode_t bn_mode) {
    INFO(mode.letters << ", bn_mode " << int{bn_mode});
    bool const per_activation = bn_mode == miopenBNPerActivation;
    miopenTensorDescriptor_t input, weights, output, bias, bias_scale;
    miopenConvolutionDescriptor_t conv;
    miopenActivationDescriptor_t activ;
    miopenOperatorArgs_t args;
    for (auto* desc : {&input, &weights, &output, &bias, &bias_scale}) succeeds(miopenCreateTensorDescriptor(desc));
    succeeds(miopenCreateConvolutionDescriptor(&conv));
    succeeds(miopenCreateActivationDescriptor(&activ));
    succeeds(miopenCreateOperatorArgs(&args));
    Session const handle;
    succeeds(miopenEnableProfiling(handle, true));

    // The convolution preserves channels and extents: the driver derives parameters from the input.
    succeeds(miopenInitConvolutionDescriptor(conv, miopenConvolution, 1, 1, 1, 1, 1, 1));
    succeeds(miopenSetActivationDescriptor(activ, miopenActivationRELU, 1, 0, 1));
    succeeds(miopenSet4dTensorDescriptor(input, miopenFloat, 2, 5, 4, 6));
    miopenFusionPlanDescriptor_t plan;
    succeeds(miopenCreateFusionPlan(&plan, miopenVerticalFusion, input));
    succeeds(miopenSet4dTensorDescriptor(weights, miopenFloat, 5, 5, 3, 3));
    int n = 2, c = 5, h = 4, w = 6;
    if (mode.has('C')) succeeds(miopenGetConvolutionForwardOutputDim(conv, input, weights, &n, &c, &h, &w));
    succeeds(miopenSet4dTensorDescriptor(output, miopenFloat, n, c, h, w));
    if (mode.has('B')) succeeds(miopenSet4dTensorDescriptor(bias, miopenFloat, 1, c, 1, 1));
    if (mode.has('N')) succeeds(miopenDeriveBNTensorDescriptor(bias_scale, input, bn_mode));

    auto const type = fk::DataType::float32;
    oracle::Shape const shape{2, 5, 4, 6};
    auto const image = fk::nchw(2, 5, 4, 6), parameters = per_activation ? fk::nchw(1, 5, 4, 6) : fk::nchw(1, 5, 1, 1);
    auto const x_values = integers(240, -2, 2, 1), w_values = integers(225, -2, 2, 2), b_values = integers(5, -9, 9, 3);
    std::int64_t const values = per_activation ? 120 : 5;
    // 1 / sqrt(variance + epsilon) is 1/2: the variance is a number whose sum with epsilon is 4.
    double const epsilon = 1;
    oracle::Statistics const s{integers(values, -3, 3, 4), std::vector<double>(static_cast<std::size_t>(values), 3),
                               integers(values, -2, 2, 5), integers(values, -4, 4, 6), epsilon};
    DeviceTensor x(type, image, x_values), y(type, image), filters(type, fk::kcrs(5, 5, 3, 3), w_values),
        b(type, fk::nchw(1, 5, 1, 1), b_values), mean(type, parameters, s.mean), variance(type, parameters, s.variance),
        scale(type, parameters, s.scale), shift(type, parameters, s.shift);

    float const alpha = 1, beta = 0;
    double activ_alpha, activ_beta, activ_gamma;
    miopenActivationMode_t activ_mode;
    succeeds(miopenGetActivationDescriptor(activ, &activ_mode, &activ_alpha, &activ_beta, &activ_gamma));
    miopenConvolutionMode_t c_mode;
    int of_conv[6];
    succeeds(miopenGetConvolutionDescriptor(conv, &c_mode, of_conv, of_conv + 1, of_conv + 2, of_conv + 3, of_conv + 4,
                                            of_conv + 5));
    miopenFusionOpDescriptor_t conv_op = nullptr, bias_op = nullptr, norm_op = nullptr, activ_op = nullptr;
    if (mode.has('C')) succeeds(miopenCreateOpConvForward(plan, &conv_op, conv, weights));
    if (mode.has('B')) succeeds(miopenCreateOpBiasForward(plan, &bias_op, bias));
    if (mode.has('N')) succeeds(miopenCreateOpBatchNormInference(plan, &norm_op, bn_mode, bias_scale));
    if (mode.has('A')) succeeds(miopenCreateOpActivationForward(plan, &activ_op, activ_mode));
    if (mode.has('C')) succeeds(miopenSetOpArgsConvForward(args, conv_op, &alpha, &beta, filters.data()));
    if (mode.has('A'))
        succeeds(miopenSetOpArgsActivForward(args, activ_op, &alpha, &beta, activ_alpha, activ_beta, activ_gamma));
    if (mode.has('B')) succeeds(miopenSetOpArgsBiasForward(args, bias_op, &alpha, &beta, b.data()));
    if (mode.has('N'))
        succeeds(miopenSetOpArgsBatchNormInference(args, norm_op, &alpha, &beta, scale.data(), shift.data(),
                                                   mean.data(), variance.data(), epsilon));
    succeeds(miopenCompileFusionPlan(handle, plan));
    for (int i = 0; i < 2; ++i) {
        float milliseconds = 0;
        succeeds(miopenExecuteFusionPlan(handle, plan, input, x.data(), output, y.data(), args));
        succeeds(miopenGetKernelTime(handle, &milliseconds));
        CHECK(milliseconds > 0);
    }

    oracle::Tensor expected(shape, x_values);
    oracle::Window const window{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1};
    if (mode.has('C')) expected = oracle::conv(expected, w_values, 5, window);
    if (mode.has('B')) expected = oracle::bias(expected, b_values);
    if (mode.has('N'))
        expected =
            per_activation ? oracle::batch_norm_per_activation(expected, s) : oracle::batch_norm_spatial(expected, s);
    if (mode.has('A')) expected = oracle::activation(expected, {"relu"});
    CHECK(difference(expected, y.memory.fetch()) == "");

    for (auto desc : {output, input, weights, bias, bias_scale}) succeeds(miopenDestroyTensorDescriptor(desc));
    succeeds(miopenDestroyActivationDescriptor(activ));
    succeeds(miopenDestroyConvolutionDescriptor(conv));
    succeeds(miopenDestroyFusionPlan(plan));
    succeeds(miopenDestroyOperatorArgs(args));
}

}  // namespace

TEST_CASE("MIOpen: its driver of fused inference runs in all of its modes") {
    for (char const* letters : {"CBNA", "CNA", "NA", "CN", "CBA", "CA", "CB"})
        for (miopenBatchNormMode_t const bn_mode : {miopenBNPerActivation, miopenBNSpatial}) drive({letters}, bn_mode);
}
