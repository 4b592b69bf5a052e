// SPDX-License-Identifier: MIT
#include "fusekit/ops/batch_norm/training.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <cmath>

#include "support/half_types.hpp"
#include "support/refusal.hpp"
#include "support/training_cases.hpp"

using namespace test;

static_assert(fk::ReductionOp<fk::BatchNormTraining<fk::Spatial>> &&
              fk::ReductionOp<fk::BatchNormTraining<fk::PerActivation>>);

using Elements = HalvesAnd<float>;

TEMPLATE_LIST_TEST_CASE("batch norm in training and its gradients, of odd shapes", "", Elements) {
    fk::host::Device device(3);
    check_training_of_odd_shapes<TestType>(device);
}

TEMPLATE_LIST_TEST_CASE("batch norm in training and its gradients are exact where arithmetic is", "", Elements) {
    fk::host::Device device(2);
    check_training_of_integers<TestType>(device);
}

TEST_CASE("batch statistics stay accurate where squares would cancel, overflow or underflow") {
    fk::host::Device device(2);
    check_training_of_hard_numbers(device);
    check_variance_of_far_values(device);
    check_training_of_no_numbers(device);
}

TEST_CASE("training is bitwise identical for any number of threads") {
    using Bits = std::vector<float> (*)(fk::host::Device&, fk::Layout<4> const&);
    for (Bits const bits : {Bits(bits_of_training<fk::BatchNormTraining<fk::Spatial>, fk::host::Device>),
                            Bits(bits_of_training<fk::BatchNormTraining<fk::PerActivation>, fk::host::Device>)})
        for (auto const& layout : {fk::nchw(5, 7, 19, 23), fk::nhwc(5, 19, 23, 7)}) {
            fk::host::Device one(1);
            auto const expected = bits(one, layout);
            for (int const threads : {1, 2, 3, 7}) {
                fk::host::Device device(threads);
                for (int run = 0; run < 3; ++run) CHECK(bits(device, layout) == expected);
            }
        }
}

namespace {

/// A layer on 3 images of 4 channels of 2 x 5, with poisoned outputs.
struct Layer {
    using Norm = fk::BatchNormTraining<fk::Spatial>;
    using Plan = fk::Plan<Norm, fk::Activation<fk::Relu>>;

    fk::host::Device device{2};
    Memory<4> x{fk::DataType::float32, fk::nchw(3, 4, 2, 5), std::vector<double>(120, 2.0)},
        y{fk::DataType::float32, fk::nchw(3, 4, 2, 5), 64};
    Memory<1> scale{fk::DataType::float32, fk::channels(4), {1, 2, 3, 4}},
        written[4] = {poison(), poison(), poison(), poison()};
    Norm::Args args{.scale = scale.view<float const>(),
                    .shift = scale.view<float const>(),
                    .saved_mean = written[0].view<float>(),
                    .saved_inverse_deviation = written[1].view<float>(),
                    .running_mean = written[2].view<float>(),
                    .running_variance = written[3].view<float>()};

    static Memory<1> poison() { return {fk::DataType::float32, fk::channels(4), 16}; }

    /// Message of the refused call, without the plan's name; checks that every output byte is unchanged.
    std::string refused(auto const& call) {
        std::string text = refusal(call);
        std::string const plan = "Plan<BatchNormTraining<Spatial>, Activation<Relu>>: ";
        if (text.starts_with(plan)) text = text.substr(plan.size());
        if (!y.untouched(true)) text += " (y was written)";
        for (auto const& memory : written)
            if (!memory.untouched(true)) text += " (a statistic was written)";
        return text;
    }
    std::string refused() {
        return refused([&] { Plan::bind(args, {})(device, x.view<float const>(), y.view<float>()); });
    }
};

}  // namespace

TEST_CASE("with momentum 1 the batch's statistics overwrite the running ones, which are not read") {
    Layer layer;
    layer.args.momentum = 1;
    Memory<1> mean(fk::DataType::float32, fk::channels(4), std::vector<double>(4, NAN)),
        variance(fk::DataType::float32, fk::channels(4), std::vector<double>(4, NAN));
    layer.args.running_mean = mean.view<float>(), layer.args.running_variance = variance.view<float>();
    Layer::Plan::bind(layer.args, {})(layer.device, layer.x.view<float const>(), layer.y.view<float>());
    for (std::int64_t k = 0; k < 4; ++k) {
        CHECK(mean.view<float>()(k) == 2);  // every x is 2
        CHECK(variance.view<float>()(k) == 0);
    }
}

TEST_CASE("wrong arguments of training are refused, and nothing is written") {
    Layer layer;
    auto& args = layer.args;
    auto const given = args;
    auto const refused_with = [&](auto const& change) {
        args = given;
        change();
        return layer.refused();
    };
    std::string const norm = "BatchNormTraining<Spatial>.";
    CHECK(refused_with([&] { args.running_variance = {}; }) ==
          norm + "running_variance: expected both running statistics, or neither, got none");
    CHECK(refused_with([&] { args.running_mean = {}; }) ==
          norm + "running_mean: expected both running statistics, or neither, got none");
    CHECK(refused_with([&] { args.epsilon = 0; }) == norm + "epsilon: expected a finite number above 0, got 0");
    CHECK(refused_with([&] { args.epsilon = std::numeric_limits<float>::infinity(); }) ==
          norm + "epsilon: expected a finite number above 0, got inf");
    CHECK(refused_with([&] { args.momentum = 1.5f; }) == norm + "momentum: expected 0 to 1, got 1.5");
    CHECK(refused_with([&] { args.momentum = -0.5f; }) == norm + "momentum: expected 0 to 1, got -0.5");
    CHECK(refused_with([&] { args.scale = fk::TensorView<float const, 1>(args.scale.data, fk::channels(3)); }) ==
          norm + "scale: expected 4 (K), got 3");
    CHECK(refused_with([&] { args.saved_mean = fk::TensorView<float, 1>(args.saved_mean.data, fk::channels(5)); }) ==
          norm + "saved_mean: expected 4 (K), got 5");
    CHECK(
        refused_with([&] { args.saved_mean.layout.stride[0] = 0; }) ==
        norm +
            "saved_mean: expected strides that each exceed the reach of all smaller ones, in either direction, got 0");
    CHECK(refused_with([&] { args.saved_inverse_deviation = args.saved_mean; }) ==
          norm + "saved_inverse_deviation: expected memory apart from that of " + norm +
              "saved_mean, got memory that overlaps it");
    CHECK(refused_with([&] { args.running_variance.data = const_cast<float*>(args.scale.data); }) ==
          norm + "running_variance: expected memory apart from that of " + norm + "scale, got memory that overlaps it");
    CHECK(refused_with([&] { args.saved_mean.data = layer.x.view<float>().data; }) ==
          norm + "saved_mean: expected memory apart from the input's, got memory that overlaps it");
    CHECK(refused_with([&] { args.saved_mean.data = layer.y.view<float>().data + 3; }) ==
          norm + "saved_mean: expected memory apart from the output's, got memory that overlaps it");

    args = given;
    CHECK(layer.refused([&] {
        fk::TensorView<float> const shifted(layer.x.view<float>().data + 1, layer.x.layout);
        Layer::Plan::bind(args, {})(layer.device, layer.x.view<float const>(), shifted);
    }) == "x: expected memory apart from the output's, or the output itself, got memory that overlaps it");
    fk::Layout<4> const one_each = fk::nchw(1, 4, 1, 1);
    CHECK(layer.refused([&] {
        Layer::Plan::bind(args, {})(layer.device, fk::TensorView<float const>(layer.x.view<float>().data, one_each),
                                    fk::TensorView<float>(layer.y.view<float>().data, one_each));
    }) == norm +
              "running_variance: expected at least 2 values per mean, because the variance of 1 value is undefined, "
              "got 1");
}
