// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "compat/call_at_once.hpp"
#include "compat/refused.hpp"

using namespace test::miopen;
using namespace test;

namespace {

/// Extents of `whole`, with 1 in modes whose bit is 0.
oracle::Shape part_of(oracle::Shape const& whole, int bits) {
    return {bits & 1 ? whole.n : 1, bits & 2 ? whole.c : 1, bits & 4 ? whole.h : 1, bits & 8 ? whole.w : 1};
}
std::string words(oracle::Shape const& s) {
    return std::to_string(s.n) + " x " + std::to_string(s.c) + " x " + std::to_string(s.h) + " x " +
           std::to_string(s.w);
}

/// Values of a tensor of `part`'s extents, broadcast to `whole`.
std::vector<double> repeated(std::vector<double> const& values, oracle::Shape const& part, oracle::Shape const& whole) {
    std::vector<double> all;
    auto const at = [](std::int64_t i, std::int64_t extent) { return extent == 1 ? 0 : i; };
    for (std::int64_t n = 0; n < whole.n; ++n)
        for (std::int64_t c = 0; c < whole.c; ++c)
            for (std::int64_t h = 0; h < whole.h; ++h)
                for (std::int64_t w = 0; w < whole.w; ++w)
                    all.push_back(values[static_cast<std::size_t>(
                        ((at(n, part.n) * part.c + at(c, part.c)) * part.h + at(h, part.h)) * part.w + at(w, part.w))]);
    return all;
}

/// Tensor with the extents of part_of().
struct Part {
    oracle::Shape shape;
    std::vector<double> values;
    DeviceTensor tensor;

    Part(oracle::Shape const& whole, int bits, std::uint64_t seed, std::string const& layout = "nchw")
        : shape(part_of(whole, bits)),
          values(integers(shape.size(), -5, 5, seed)),
          tensor(fk::DataType::float32, layout_of<4>(layout, shape), values) {}
    std::vector<double> at_every(oracle::Shape const& whole) const { return repeated(values, shape, whole); }
};

oracle::Shape const x_shape{2, 4, 5, 7}, y_shape{2, 3, 3, 5};
oracle::Window const window{.r = 3, .s = 3};

/// Checks a plan with a bias of part_of(y_shape, bits).
void run_plan(int bits, std::string const& layout, bool with_activation) {
    auto const type = fk::DataType::float32;
    auto const x_values = integers(x_shape.size(), -2, 3, 1), w_values = integers(3 * 4 * 9, -2, 3, 2);
    DeviceTensor x(type, layout_of<4>(layout, x_shape), x_values), w(type, fk::kcrs(3, 4, 3, 3), w_values),
        y(type, layout_of<4>(layout, y_shape));
    Part bias(y_shape, bits, 3, layout);
    INFO("bias " << words(bias.shape) << ", " << layout << (with_activation ? ", relu" : ""));
    Plan const plan(x.descriptor);
    Arguments const args;
    miopenFusionOpDescriptor_t conv, term, relu;
    succeeds(miopenCreateOpConvForward(plan, &conv, convolution(), w.descriptor));
    succeeds(miopenCreateOpBiasForward(plan, &term, bias.tensor.descriptor));
    if (with_activation) succeeds(miopenCreateOpActivationForward(plan, &relu, miopenActivationRELU));
    succeeds(miopenSetOpArgsConvForward(args, conv, nullptr, nullptr, w.data()));
    succeeds(miopenSetOpArgsBiasForward(args, term, nullptr, nullptr, bias.tensor.data()));
    if (with_activation) succeeds(miopenSetOpArgsActivForward(args, relu, nullptr, nullptr, 0, 0, 0));
    succeeds(miopenCompileFusionPlan(session(), plan));
    succeeds(miopenExecuteFusionPlan(session(), plan, x.descriptor, x.data(), y.descriptor, y.data(), args));
    auto expected = oracle::residual(oracle::conv({x_shape, x_values}, w_values, 3, window), bias.at_every(y_shape), 1);
    if (with_activation) expected = oracle::activation(expected, {"relu"});
    CHECK(difference(expected, y.memory.fetch()) == "");
}

}  // namespace

TEST_CASE("MIOpen: a plan's bias is broadcast over any modes of extent 1") {
    for (int bits = 0; bits < 16; ++bits) {
        run_plan(bits, "nchw", true);
        run_plan(bits, "nhwc", false);
    }
}

TEST_CASE("MIOpen: the immediate call broadcasts z and bias over any modes of extent 1") {
    CallAtOnce call(fk::DataType::float32);
    auto const relu = activation(miopenActivationRELU);
    auto const sum = oracle::conv({x_shape, call.x_values}, call.w_values, 3, window);
    auto const run = [&](float alpha1, float alpha2, Part& z, Part& bias) {
        INFO("alpha1 " << alpha1 << ", alpha2 " << alpha2 << ", z " << words(z.shape) << ", bias "
                       << words(bias.shape));
        succeeds(miopenConvolutionBiasActivationForward(
            session(), &alpha1, call.x.descriptor, call.x.data(), call.w.descriptor, call.w.data(), call.conv,
            miopenConvolutionFwdAlgoImplicitGEMM, nullptr, 0, &alpha2, z.tensor.descriptor, z.tensor.data(),
            bias.tensor.descriptor, bias.tensor.data(), relu, call.y.descriptor, call.y.data()));
        auto const with_z = oracle::residual(oracle::scale(sum, double{alpha1}), z.at_every(y_shape), double{alpha2});
        auto const expected = oracle::residual(with_z, bias.at_every(y_shape), 1);
        CHECK(difference(oracle::activation(expected, {"relu"}), call.y.memory.fetch()) == "");
    };
    for (int bits = 0; bits < 16; ++bits) {
        Part one(y_shape, bits, 7), per_channel(y_shape, 2, 8), single(y_shape, 0, 9);
        run(1, 2, one, per_channel);
        run(0.5f, 2, one, single);
        run(1, 0, per_channel, one);    // without z
        run(0.5f, 0, per_channel, one);
        run(2, 1, per_channel, one);    // z as the bias
        run(1, 1, single, one);
    }
}

TEST_CASE("MIOpen: a bias of more than one value per channel is refused where no kernel adds it") {
    auto const image = tensor({2, 3, 4, 5}), parameters = tensor({1, 3, 1, 1}), rows = tensor({1, 1, 4, 1});
    miopenFusionOpDescriptor_t op = nullptr, none = nullptr;
    {
        Plan const plan(image);
        check_refused(miopenCreateOpBiasForward(plan, &none, rows), miopenStatusUnsupportedOp,
                      "bDesc: expected one value per channel in a plan without a convolution, got more");
        succeeds(miopenCreateOpBiasForward(plan, &op, tensor({1, 1, 1, 1})));
    }
    auto const weights = tensor({3, 3, 1, 1});
    {
        Plan const plan(image);
        succeeds(miopenCreateOpConvForward(plan, &op, convolution(), weights));
        check_refused(miopenCreateOpBiasForward(plan, &none, tensor({2, 3, 4, 4})), miopenStatusBadParm,
                      "bDesc: expected 1 x 3 x 1 x 1, or 2 x 3 x 4 x 5 with 1 in any mode, got 2 x 3 x 4 x 4");
        check_refused(miopenCreateOpBiasForward(plan, &none, tensor({3, 4, 5})), miopenStatusBadParm, "got 3 x 4 x 5");
        succeeds(miopenCreateOpBiasForward(plan, &op, rows));
        check_refused(miopenCreateOpBatchNormInference(plan, &none, miopenBNSpatial, parameters),
                      miopenStatusUnsupportedOp,
                      "bnOp: expected a bias of one value per channel before a batch norm, got more");
        CHECK(miopenCreateOpBiasForward(plan, &none, rows) == miopenStatusUnsupportedOp);
        CHECK(miopenCreateOpBiasForward(plan, &none, parameters) == miopenStatusUnsupportedOp);
        succeeds(miopenCreateOpActivationForward(plan, &op, miopenActivationTANH));
        check_refused(miopenCreateOpBiasForward(plan, &none, rows), miopenStatusUnsupportedOp, "");
    }
    {
        Plan const plan(image);
        succeeds(miopenCreateOpConvForward(plan, &op, convolution(), weights));
        succeeds(miopenCreateOpActivationForward(plan, &op, miopenActivationRELU));
        check_refused(miopenCreateOpBiasForward(plan, &none, rows), miopenStatusUnsupportedOp,
                      "Bias shifts the accumulator, so it stands before BatchNorm and Activation");
    }
    CHECK(none == nullptr);

    CallAtOnce call(fk::DataType::float32);
    float const one = 1, two = 2;
    auto const relu = activation(miopenActivationRELU);
    Part bias(y_shape, 4, 1), per_channel(y_shape, 2, 2);
    auto const run = [&](float const& alpha2, DeviceTensor& z) {
        return miopenConvolutionBiasActivationForward(
            session(), &one, call.x.descriptor, call.x.data(), call.w.descriptor, call.w.data(), call.conv,
            miopenConvolutionFwdAlgoImplicitGEMM, nullptr, 0, &alpha2, z.descriptor, z.data(), bias.tensor.descriptor,
            bias.tensor.data(), relu, call.y.descriptor, call.y.data());
    };
    check_refused(run(one, call.z), miopenStatusUnsupportedOp,
                  "biasDesc: expected one value per channel in a call with z, got more");
    check_refused(run(two, per_channel.tensor), miopenStatusUnsupportedOp,
                  "biasDesc: expected one value per channel in a call with z, got more");
    CHECK(call.y.memory.fetch().untouched(true));
}

TEST_CASE("MIOpen: a stride of 0 broadcasts z, and is refused in y") {
    CallAtOnce call(fk::DataType::float32);
    auto const relu = activation(miopenActivationRELU);
    float const one = 1;
    std::vector<double> const rows = {1, -2, 3};
    DeviceTensor z(fk::DataType::float32, fk::nchw(1, 1, 3, 1), rows);
    Tensor wide;
    succeeds(miopenSet4dTensorDescriptorEx(wide, miopenFloat, 2, 3, 3, 5, 0, 0, 1, 0));
    succeeds(call.run(&one, &one, relu, wide, z.data()));
    call.z_values = repeated(rows, {1, 1, 3, 1}, y_shape);
    CHECK(call.wrong(1, 1, {"relu"}) == "");

    CallAtOnce other(fk::DataType::float32);
    std::swap(other.y.descriptor, wide);
    check_refused(other.run(&one, &one, relu), miopenStatusBadParm, "strides that each exceed the reach");
    CHECK(other.y.memory.fetch().untouched(true));
}
