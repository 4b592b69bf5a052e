// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <optional>
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

    Part(oracle::Shape const& whole, int bits, std::uint64_t seed, std::string const& layout = "nchw",
         fk::DataType type = fk::DataType::float32)
        : shape(part_of(whole, bits)),
          values(integers(shape.size(), -5, 5, seed)),
          tensor(type, layout_of<4>(layout, shape), values) {}
    std::vector<double> at_every(oracle::Shape const& whole) const { return repeated(values, shape, whole); }
};

oracle::Shape const x_shape{2, 4, 5, 7}, y_shape{2, 3, 3, 5};
oracle::Window const window{.r = 3, .s = 3};

/// Operators of a plan beside its bias.
struct Form {
    bool with_conv = true, with_activation = false;
    enum { no_norm, spatial, per_activation } norm = no_norm;
};

/// Plan with a bias of part_of(y_shape, bits), on small integers.
class BroadcastPlan {
public:
    DeviceTensor x, y;

    BroadcastPlan(int bits, std::string const& the_layout, Form const& the_form,
                  fk::DataType type = fk::DataType::float32)
        : x(type, layout_of<4>(the_layout, shape_of(the_form)), integers(shape_of(the_form).size(), -2, 3, 1)),
          y(type, layout_of<4>(the_layout, y_shape)),
          form(the_form),
          layout(the_layout),
          w_values(integers(3 * 4 * 9, -2, 3, 2)),
          w(type, fk::kcrs(3, 4, 3, 3), w_values),
          bias(y_shape, bits, 3, the_layout),
          plan(x.descriptor) {
        miopenFusionOpDescriptor_t op;
        if (form.with_conv) {
            succeeds(miopenCreateOpConvForward(plan, &op, convolution(), w.descriptor));
            succeeds(miopenSetOpArgsConvForward(args, op, nullptr, nullptr, w.data()));
        }
        succeeds(miopenCreateOpBiasForward(plan, &op, bias.tensor.descriptor));
        succeeds(miopenSetOpArgsBiasForward(args, op, nullptr, nullptr, bias.tensor.data()));
        if (form.norm != Form::no_norm) add_norm();
        if (form.with_activation) {
            succeeds(miopenCreateOpActivationForward(plan, &op, miopenActivationRELU));
            succeeds(miopenSetOpArgsActivForward(args, op, nullptr, nullptr, 0, 0, 0));
        }
        succeeds(miopenCompileFusionPlan(session(), plan));
    }

    miopenStatus_t run(DeviceTensor& to) {
        return miopenExecuteFusionPlan(session(), plan, x.descriptor, x.data(), to.descriptor, to.data(), args);
    }
    void set_norm(void* mean) {
        succeeds(miopenSetOpArgsBatchNormInference(args, norm, nullptr, nullptr, parameters->data(), parameters->data(),
                                                   mean, variances->data(), 1));
    }
    std::string wrong(DeviceTensor& of) const {
        oracle::Tensor expected(shape_of(form), integers(shape_of(form).size(), -2, 3, 1));
        if (form.with_conv) expected = oracle::conv(expected, w_values, 3, window);
        expected = oracle::residual(expected, bias.at_every(y_shape), 1);
        if (form.norm == Form::spatial) expected = oracle::batch_norm_spatial(expected, statistics);
        if (form.norm == Form::per_activation) expected = oracle::batch_norm_per_activation(expected, statistics);
        if (form.with_activation) expected = oracle::activation(expected, {"relu"});
        return difference(expected, of.memory.fetch());
    }
    std::string name() const {
        char const* const norms[] = {"", ", batch norm", ", batch norm per activation"};
        return (form.with_conv ? "conv, bias " : "bias ") + words(bias.shape) + norms[form.norm] +
               (form.with_activation ? ", relu, " : ", ") + layout;
    }
    void* mean() { return parameters->data(); }

private:
    Form form;
    std::string layout;
    std::vector<double> w_values;
    DeviceTensor w;
    Part bias;
    Plan plan;
    Arguments args;
    oracle::Statistics statistics;
    std::optional<DeviceTensor> parameters, variances;  // parameters: mean, scale and shift
    miopenFusionOpDescriptor_t norm;

    static oracle::Shape shape_of(Form const& form) { return form.with_conv ? x_shape : y_shape; }

    void add_norm() {
        bool const spatial = form.norm == Form::spatial;
        oracle::Shape const of = {1, y_shape.c, spatial ? 1 : y_shape.h, spatial ? 1 : y_shape.w};
        auto const values = integers(of.size(), -3, 3, 5);
        statistics = {values, std::vector<double>(values.size(), 3), values, values, 1};  // deviations are 2
        auto const place = layout_of<4>(layout, of);
        parameters.emplace(fk::DataType::float32, place, values);
        variances.emplace(fk::DataType::float32, place, statistics.variance);
        succeeds(miopenCreateOpBatchNormInference(plan, &norm, spatial ? miopenBNSpatial : miopenBNPerActivation,
                                                  parameters->descriptor));
        set_norm(mean());
    }
};

}  // namespace

TEST_CASE("MIOpen: a plan's bias is broadcast over any modes of extent 1") {
    Form const forms[] = {{true, true},
                          {true, false},
                          {false, true},
                          {false, false},
                          {true, true, Form::spatial},
                          {true, false, Form::per_activation},
                          {false, true, Form::per_activation},
                          {false, false, Form::spatial}};
    auto const check = [](BroadcastPlan&& plan) {
        INFO(plan.name());
        succeeds(plan.run(plan.y));
        CHECK(plan.wrong(plan.y) == "");
    };
    for (auto const type : {fk::DataType::float32, fk::DataType::float16, fk::DataType::bfloat16}) {
        if (!has_plans_of(type)) continue;
        for (Form const& form : forms)
            for (int bits = 0; bits < 16; ++bits) check({bits, bits % 3 == 1 ? "nhwc" : "nchw", form, type});
    }
}

TEST_CASE("MIOpen: a plan of two launches reads its y in the second, and writes nothing if it refuses one of them") {
    BroadcastPlan plan(12, "nchw", {true, true, Form::spatial});
    plan.set_norm(plan.y.data());
    check_refused(plan.run(plan.y), miopenStatusBadParm, "memory that overlaps it");
    CHECK(plan.y.memory.fetch().untouched(true));
    plan.set_norm(plan.mean());
    DeviceTensor other(fk::DataType::float32, plan.y.memory.any().layout);
    for (DeviceTensor* const to : {&plan.y, &other}) {  // the launches are prepared for one y
        succeeds(plan.run(*to));
        CHECK(plan.wrong(*to) == "");
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
        run(1, 0, per_channel, one);  // without z
        run(0.5f, 0, per_channel, one);
        run(2, 1, per_channel, one);  // z as the bias
        run(1, 1, single, one);
        Part other(y_shape, bits * 7 % 16, 10);  // 7 and 16 have no common divisor
        run(0.5f, -2, other, one);
        run(1, 2, per_channel, one);
    }
}

TEST_CASE("MIOpen: z or bias of the immediate call may be y") {
    auto const relu = activation(miopenActivationRELU);
    float const one = 1, two = 2;
    CallAtOnce call(fk::DataType::float32);
    auto const run = [&](DeviceTensor& z, DeviceTensor& bias, DeviceTensor& y) {
        return miopenConvolutionBiasActivationForward(
            session(), &one, call.x.descriptor, call.x.data(), call.w.descriptor, call.w.data(), call.conv,
            miopenConvolutionFwdAlgoImplicitGEMM, nullptr, 0, &two, z.descriptor, z.data(), bias.descriptor,
            bias.data(), relu, y.descriptor, y.data());
    };
    Part rows(y_shape, 4, 1);
    for (bool const bias_is_y : {false, true}) {
        DeviceTensor y(fk::DataType::float32, call.y.memory.any().layout, call.z_values);
        INFO((bias_is_y ? "bias" : "z") << " is y");
        succeeds(bias_is_y ? run(rows.tensor, y, y) : run(y, rows.tensor, y));
        auto expected = oracle::conv({x_shape, call.x_values}, call.w_values, 3, window);
        expected = oracle::residual(expected, call.z_values, bias_is_y ? 1 : 2);
        expected = oracle::residual(expected, rows.at_every(y_shape), bias_is_y ? 2 : 1);
        CHECK(difference(oracle::activation(expected, {"relu"}), y.memory.fetch()) == "");
    }
    check_refused(
        run(call.y, call.y, call.y), miopenStatusBadParm,
        "z: expected memory apart from y, which the first of two kernels writes, got memory that overlaps it");
    CHECK(call.y.memory.fetch().untouched(true));
}

TEST_CASE("MIOpen: a bias is refused where its extents, or the operators before it, do not permit it") {
    auto const image = tensor({2, 3, 4, 5}), parameters = tensor({1, 3, 1, 1}), rows = tensor({1, 1, 4, 1});
    auto const weights = tensor({3, 3, 1, 1});
    miopenFusionOpDescriptor_t op = nullptr, none = nullptr;
    char const* const one_bias = "biasOp: expected one bias in a plan, got a second";
    for (bool const with_conv : {true, false}) {
        Plan const plan(image);
        if (with_conv) succeeds(miopenCreateOpConvForward(plan, &op, convolution(), weights));
        check_refused(miopenCreateOpBiasForward(plan, &none, tensor({2, 3, 4, 4})), miopenStatusBadParm,
                      "bDesc: expected 1 x 3 x 1 x 1, or 2 x 3 x 4 x 5 with 1 in any mode, got 2 x 3 x 4 x 4");
        check_refused(miopenCreateOpBiasForward(plan, &none, tensor({3, 4, 5})), miopenStatusBadParm, "got 3 x 4 x 5");
        succeeds(miopenCreateOpBiasForward(plan, &op, rows));
        check_refused(miopenCreateOpBiasForward(plan, &none, rows), miopenStatusUnsupportedOp, one_bias);
        check_refused(miopenCreateOpBiasForward(plan, &none, parameters), miopenStatusUnsupportedOp, one_bias);
        succeeds(miopenCreateOpActivationForward(plan, &op, miopenActivationTANH));
        check_refused(miopenCreateOpBatchNormInference(plan, &none, miopenBNSpatial, parameters),
                      miopenStatusUnsupportedOp,
                      "BatchNorm normalizes what Activation is applied to, so it stands before Activation");
    }
    {
        Plan const plan(image);
        succeeds(miopenCreateOpBiasForward(plan, &op, parameters));
        check_refused(miopenCreateOpBiasForward(plan, &none, rows), miopenStatusUnsupportedOp, one_bias);
        succeeds(miopenCreateOpBatchNormInference(plan, &op, miopenBNSpatial, parameters));
        check_refused(miopenCreateOpBatchNormInference(plan, &none, miopenBNSpatial, parameters),
                      miopenStatusUnsupportedOp, "a Plan has at most one Bias, BatchNorm and Activation");
    }
    for (auto const& bias : {&rows, &parameters}) {
        Plan const plan(image);
        succeeds(miopenCreateOpConvForward(plan, &op, convolution(), weights));
        succeeds(miopenCreateOpActivationForward(plan, &op, miopenActivationRELU));
        check_refused(miopenCreateOpBiasForward(plan, &none, *bias), miopenStatusUnsupportedOp,
                      "Bias shifts the accumulator, so it stands before BatchNorm and Activation");
    }
    CHECK(none == nullptr);
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
