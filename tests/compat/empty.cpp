// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include "compat/fused.hpp"
#include "compat/refused.hpp"

using namespace test::miopen;
using namespace test;

namespace {

constexpr auto type = fk::DataType::float32;

/// relu(conv(x, w) + bias) with a 1x1 window on N x C x H x 3, to N x K x H x 3; null pointers for empty tensors.
void run_plan(int n, int c, int k, int h = 2) {
    INFO("N = " << n << ", C = " << c << ", K = " << k << ", H = " << h);
    auto const x = tensor({n, c, h, 3}), w = tensor({k, c, 1, 1}), b = tensor({1, k, 1, 1}), y = tensor({n, k, h, 3});
    DeviceTensor bias(type, fk::nchw(1, 2, 1, 1), {3, -1}), input(type, fk::nchw(1, 1, 1, 12)),
        weights(type, fk::nchw(1, 1, 1, 4)), output(type, fk::nchw(1, 2, 2, 3));
    auto const data = [](DeviceTensor& of, int elements) { return elements == 0 ? nullptr : of.data(); };
    test::miopen::Plan const plan(x);
    Arguments const args;
    miopenFusionOpDescriptor_t conv, term, relu;
    succeeds(miopenCreateOpConvForward(plan, &conv, convolution(), w));
    succeeds(miopenCreateOpBiasForward(plan, &term, b));
    succeeds(miopenCreateOpActivationForward(plan, &relu, miopenActivationRELU));
    succeeds(miopenSetOpArgsConvForward(args, conv, nullptr, nullptr, data(weights, k * c)));
    succeeds(miopenSetOpArgsBiasForward(args, term, nullptr, nullptr, data(bias, k)));
    succeeds(miopenSetOpArgsActivForward(args, relu, nullptr, nullptr, 0, 0, 0));
    succeeds(miopenCompileFusionPlan(session(), plan));
    std::size_t bytes = 7;
    succeeds(miopenFusionPlanGetWorkSpaceSize(session(), plan, &bytes, miopenConvolutionFwdAlgoDirect));
    for (int i = 0; i < 2; ++i)
        succeeds(miopenExecuteFusionPlan(session(), plan, x, data(input, n * c * h), y, data(output, n * k * h), args));
    if (n * k * h == 0) {
        CHECK(output.memory.fetch().untouched(true));
        return;
    }
    oracle::Tensor expected({1, 2, 2, 3});  // an empty sum, and the bias
    for (std::size_t i = 0; i < expected.at.size(); ++i) expected.at[i].value = expected.channel(i) == 0 ? 3 : 0;
    CHECK(difference(expected, output.memory.fetch()) == "");
}

}  // namespace

TEST_CASE("MIOpen: a plan on no images, filters or rows writes nothing, and on no channels the bias") {
    run_plan(0, 2, 2);
    run_plan(1, 2, 0);
    run_plan(1, 0, 2);
    run_plan(0, 0, 0);
    run_plan(1, 2, 2, 0);
}

TEST_CASE("MIOpen: training on no images is refused, and gradients over none are 0") {
    auto const x = tensor({0, 2, 3, 4});
    auto const channels = fk::nchw(1, 2, 1, 1);
    DeviceTensor scale(type, channels, {1, 2}), shift(type, channels, {3, 4}), mean(type, channels, {5, 6}),
        inverse(type, channels, {7, 8}), scale_gradient(type, channels), shift_gradient(type, channels);
    test::miopen::Plan const forward(x), backward(x);
    miopenFusionOpDescriptor_t norm, activation;
    succeeds(miopenCreateOpBatchNormForward(forward, &norm, miopenBNSpatial, false));
    check_refused(miopenCompileFusionPlan(session(), forward), miopenStatusUnsupportedOp, "at least 1 value per mean");

    Arguments const args;
    succeeds(miopenCreateOpBatchNormBackward(backward, &norm, miopenBNSpatial));
    succeeds(miopenCreateOpActivationBackward(backward, &activation, miopenActivationRELU));
    succeeds(miopenSetOpArgsBatchNormBackward(args, norm, nullptr, nullptr, nullptr, scale.data(), shift.data(),
                                              scale_gradient.data(), shift_gradient.data(), mean.data(),
                                              inverse.data()));
    succeeds(miopenSetOpArgsActivBackward(args, activation, nullptr, nullptr, nullptr, nullptr, 0, 0, 0));
    succeeds(miopenCompileFusionPlan(session(), backward));
    succeeds(miopenExecuteFusionPlan(session(), backward, x, nullptr, x, nullptr, args));
    oracle::Tensor const zeros({1, 2, 1, 1});
    CHECK(difference(zeros, scale_gradient.memory.fetch()) == "");
    CHECK(difference(zeros, shift_gradient.memory.fetch()) == "");
}

TEST_CASE("MIOpen: the immediate call on no images writes nothing, and on no channels z and the bias") {
    auto const relu = activation(miopenActivationRELU);
    auto const conv = convolution();
    float const one = 1, two = 2;
    DeviceTensor z(type, fk::nchw(1, 2, 1, 2), {1, 2, 3, -4}), bias(type, fk::nchw(1, 2, 1, 1), {3, -1}),
        y(type, fk::nchw(1, 2, 1, 2));
    auto const run = [&](int n, int c, void* z_data, void* y_data) {
        auto const x = tensor({n, c, 1, 2}), w = tensor({2, c, 1, 1}), like_y = tensor({n, 2, 1, 2});
        return miopenConvolutionBiasActivationForward(session(), &one, x, nullptr, w, c ? bias.data() : nullptr, conv,
                                                      miopenConvolutionFwdAlgoDirect, nullptr, 0, &two, like_y, z_data,
                                                      bias.descriptor, bias.data(), relu, like_y, y_data);
    };
    succeeds(run(0, 1, nullptr, nullptr));
    CHECK(y.memory.fetch().untouched(true));
    succeeds(run(1, 0, z.data(), y.data()));
    oracle::Tensor expected({1, 2, 1, 2});
    double const values[] = {5, 7, 5, 0};
    for (std::size_t i = 0; i < 4; ++i) expected.at[i].value = values[i];
    CHECK(difference(expected, y.memory.fetch()) == "");
    check_refused(run(1, 0, nullptr, y.data()), miopenStatusBadParm, "z: expected a pointer, got null");
    check_refused(run(1, 1, z.data(), y.data()), miopenStatusBadParm, "x: expected a pointer, got null");
}
