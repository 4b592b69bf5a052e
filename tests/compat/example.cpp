// SPDX-License-Identifier: MIT
// Replays the calls of MIOpen's public fusion example (ROCm/MIOpenExamples, fusion) and of the tests of its fusion
// plans (ROCm/MIOpen, test/cba_inference.cpp), in their order, with arguments of the same kinds.
#include <catch2/catch_test_macros.hpp>
#include <memory>

#include "compat/refused.hpp"
#include "compat/small_plan.hpp"
#include "support/filled.hpp"

using namespace test::miopen;
using namespace test;

namespace {

/// Tensor wrapper of the example: its default constructor makes and sets a descriptor without extents; assignment leaks
/// the previous descriptor; the destructor destroys only descriptors of tensors with elements.
class Wrapper {
public:
    Wrapper() : Wrapper(0, 0, 0, 0) {}
    Wrapper(int n, int c, int h, int w, std::uint64_t seed = 0) : shape{n, c, h, w} {
        succeeds(miopenCreateTensorDescriptor(&desc));
        succeeds(miopenSet4dTensorDescriptor(desc, miopenFloat, n, c, h, w));
        if (shape.size() == 0) return;
        auto const layout = fk::nchw(n, c, h, w);
        if (seed) values = integers(shape.size(), -2, 2, seed);
        tensor = seed ? std::make_unique<DeviceTensor>(fk::DataType::float32, layout, values)
                      : std::make_unique<DeviceTensor>(fk::DataType::float32, layout);
    }
    Wrapper(Wrapper const&) = delete;
    Wrapper& operator=(Wrapper&& other) noexcept {
        desc = other.desc, shape = other.shape, values = other.values, tensor = std::move(other.tensor);
        other.shape = {};
        return *this;
    }
    ~Wrapper() {
        if (shape.size() != 0) CHECK(miopenDestroyTensorDescriptor(desc) == miopenStatusSuccess);
    }
    void* data() const { return tensor->data(); }

    miopenTensorDescriptor_t desc = nullptr;
    oracle::Shape shape;
    std::vector<double> values;
    std::unique_ptr<DeviceTensor> tensor;
};

std::string wrong(Wrapper const& x, Wrapper const& w, Wrapper const& b, Wrapper const& y, char const* mode) {
    auto const sum = oracle::conv({x.shape, x.values}, w.values, w.shape.n, {.r = w.shape.h, .s = w.shape.w});
    return difference(oracle::activation(oracle::bias(sum, b.values), {mode}), y.tensor->memory.fetch());
}

}  // namespace

TEST_CASE("MIOpen: its fusion example runs, from tensors of no extents to the second execution") {
    static_cast<void>(memory_device());
    OwnStream const stream;
    miopenHandle_t handle;
    succeeds(miopenCreateWithStream(&handle, stream.queue()));
    succeeds(miopenEnableProfiling(handle, true));
    miopenConvolutionDescriptor_t conv_desc;
    miopenFusionPlanDescriptor_t plan;
    miopenOperatorArgs_t args;
    miopenFusionOpDescriptor_t conv_op, bias_op, activ_op;
    {
        Wrapper input(3, 12, 8, 9, 1), output, weights(1, 12, 3, 3, 2), bias;
        succeeds(miopenCreateConvolutionDescriptor(&conv_desc));
        succeeds(miopenInitConvolutionDescriptor(conv_desc, miopenConvolution, 0, 0, 1, 1, 1, 1));
        int n = 0, c = 0, h = 0, w = 0;
        succeeds(miopenGetConvolutionForwardOutputDim(conv_desc, input.desc, weights.desc, &n, &c, &h, &w));
        REQUIRE((n == 3 && c == 1 && h == 6 && w == 7));
        output = Wrapper(n, c, h, w);
        bias = Wrapper(1, c, 1, 1, 3);

        succeeds(miopenCreateFusionPlan(&plan, miopenVerticalFusion, input.desc));
        succeeds(miopenCreateOperatorArgs(&args));
        succeeds(miopenCreateOpConvForward(plan, &conv_op, conv_desc, weights.desc));
        succeeds(miopenCreateOpBiasForward(plan, &bias_op, bias.desc));
        succeeds(miopenCreateOpActivationForward(plan, &activ_op, miopenActivationRELU));
        succeeds(miopenCompileFusionPlan(handle, plan));

        float const alpha = 1, beta = 0, of_activation = 0;
        succeeds(miopenSetOpArgsConvForward(args, conv_op, &alpha, &beta, weights.data()));
        succeeds(
            miopenSetOpArgsActivForward(args, activ_op, &alpha, &beta, of_activation, of_activation, of_activation));
        succeeds(miopenSetOpArgsBiasForward(args, bias_op, &alpha, &beta, bias.data()));
        succeeds(miopenExecuteFusionPlan(handle, plan, input.desc, input.data(), output.desc, output.data(), args));
        float milliseconds = 0;
        succeeds(miopenGetKernelTime(handle, &milliseconds));
        CHECK(milliseconds > 0);
        CHECK(wrong(input, weights, bias, output, "relu") == "");

        Wrapper input2(3, 12, 8, 9, 4), output2(n, c, h, w), weights2(1, 12, 3, 3, 5), bias2(1, c, 1, 1, 6);
        succeeds(miopenSetOpArgsConvForward(args, conv_op, &alpha, &beta, weights2.data()));
        succeeds(
            miopenSetOpArgsActivForward(args, activ_op, &alpha, &beta, of_activation, of_activation, of_activation));
        succeeds(miopenSetOpArgsBiasForward(args, bias_op, &alpha, &beta, bias2.data()));
        succeeds(miopenExecuteFusionPlan(handle, plan, input2.desc, input2.data(), output2.desc, output2.data(), args));
        CHECK(wrong(input2, weights2, bias2, output2, "relu") == "");
        CHECK(wrong(input, weights, bias, output, "relu") == "");  // not overwritten

        succeeds(miopenDestroyFusionPlan(plan));
        succeeds(miopenDestroyConvolutionDescriptor(conv_desc));
    }
    succeeds(miopenDestroyOperatorArgs(args));
    succeeds(miopenDestroy(handle));
}

TEST_CASE("MIOpen: operators from miopenFusionPlanGetOp, with arguments that are created for each execution") {
    static_cast<void>(memory_device());
    Wrapper input(2, 3, 5, 4, 1), weights(4, 3, 3, 3, 2), bias(1, 4, 1, 1, 3), output(2, 4, 3, 2);
    auto const conv = convolution();
    auto const relu = activation(miopenActivationABS, 0.5, 0.25, 2);
    test::miopen::Plan const plan(input.desc);
    miopenFusionOpDescriptor_t made[3] = {};
    succeeds(miopenCreateOpConvForward(plan, made, conv, weights.desc));
    succeeds(miopenCreateOpBiasForward(plan, made + 1, bias.desc));
    succeeds(miopenCreateOpActivationForward(plan, made + 2, miopenActivationABS));
    miopenConvFwdAlgorithm_t algorithm[8];
    int algorithms = 0;
    succeeds(miopenFusionPlanConvolutionGetAlgo(plan, 8, &algorithms, algorithm));
    for (int i = 0; i < algorithms; ++i) {
        std::size_t bytes = 1;
        succeeds(miopenFusionPlanConvolutionSetAlgo(plan, algorithm[i]));
        succeeds(miopenFusionPlanGetWorkSpaceSize(session(), plan, &bytes, algorithm[i]));
        CHECK(bytes < 1u << 20);
    }
    succeeds(miopenCompileFusionPlan(session(), plan));
    for (int execution = 0; execution < 2; ++execution) {
        Arguments const args;
        double const alpha = 1, beta = 0;
        double activ_alpha, activ_beta, activ_gamma;
        miopenActivationMode_t mode;
        succeeds(miopenGetActivationDescriptor(relu, &mode, &activ_alpha, &activ_beta, &activ_gamma));
        miopenFusionOpDescriptor_t op[4] = {};
        for (int i = 0; i < 3; ++i) {
            succeeds(miopenFusionPlanGetOp(plan, i, op + i));
            CHECK(op[i] == made[i]);
        }
        CHECK(miopenFusionPlanGetOp(plan, 3, op + 3) == miopenStatusBadParm);
        CHECK(miopenFusionPlanGetOp(plan, -1, op + 3) == miopenStatusBadParm);
        succeeds(miopenSetOpArgsConvForward(args, op[0], &alpha, &beta, weights.data()));
        succeeds(miopenSetOpArgsBiasForward(args, op[1], &alpha, &beta, bias.data()));
        succeeds(miopenSetOpArgsActivForward(args, op[2], &alpha, &beta, activ_alpha, activ_beta, activ_gamma));
        succeeds(miopenExecuteFusionPlan(session(), plan, input.desc, input.data(), output.desc, output.data(), args));
        CHECK(wrong(input, weights, bias, output, "abs") == "");
    }
}

TEST_CASE("MIOpen: the kernel time is that of the last run with profiling") {
    SmallPlan small;
    Session const handle;
    small.compile(handle);
    float milliseconds = -1;
    auto const time = [&] {
        succeeds(miopenGetKernelTime(handle, &milliseconds));
        return milliseconds;
    };
    succeeds(small.run(handle));
    CHECK(time() == 0);
    succeeds(miopenEnableProfiling(handle, true));
    CHECK(time() == 0);
    succeeds(small.run(handle));
    float const first = time();
    CHECK((first > 0 && first < 60000));
    check_refused(miopenExecuteFusionPlan(handle, small.plan, small.x.descriptor, nullptr, small.y.descriptor,
                                          small.y.data(), small.args),
                  miopenStatusBadParm, "input: expected a pointer");
    CHECK(time() == first);
    succeeds(miopenEnableProfiling(handle, false));
    succeeds(small.run(handle));
    CHECK(time() == first);
    CHECK(small.wrong() == "");
}
