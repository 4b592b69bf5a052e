// SPDX-License-Identifier: MIT
#include "fusekit/runtime.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;
namespace rt = fk::runtime;

namespace {

/// y = min(x, alpha): an application's operator.
struct AtMost {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {
        float most;
    };
    template <class V>
    static V apply(V x, Args const& args) {
        return fk::math::min(x, args.most);
    }
};

}  // namespace

template <>
struct fusekit::runtime::OperatorOf<AtMost> {
    static constexpr Descriptor descriptor = {Kind::own, 7};
    static AtMost::Args read(Given const& given) {
        if (given.arguments.alpha < 0) given.fail("alpha", "0 or more", Text::number(given.arguments.alpha));
        return {given.number(given.arguments.alpha)};
    }
};

namespace {

/// Operators that have a descriptor.
template <class Op>
concept Described = requires { rt::OperatorOf<Op>::descriptor; };
static_assert(Described<fk::Pool<fk::Average, 2, 2>> && !Described<fk::Pool<fk::AverageWithPadding, 2, 2>>);
static_assert(!Described<fk::Pool<fk::Max, fk::filter(2, 2), fk::ceil_mode>>);

using Relu = fk::Activation<fk::Relu>;
using Set = rt::PlanSet<fk::host::Device, fk::Plan<rt::Optional<fk::Bias>, Relu>, fk::Plan<AtMost>,
                        rt::Form<fk::Plan<Relu>, fk::half, float>>;

constexpr rt::Descriptor at_most = {rt::Kind::own, 7}, bias = rt::bias(), conv = rt::conv(fk::filter(3, 3)),
                         relu = rt::activation(rt::ActivationMode::relu),
                         tanh_ = rt::activation(rt::ActivationMode::tanh), residual = rt::residual();
constexpr rt::Types floats(fk::DataType::float32);
using Sequence = std::vector<rt::Descriptor>;

std::string why(Sequence const& sequence, rt::Types types = floats) {
    auto const found = Set::find(sequence, types);
    return found ? "" : found.error().what();
}

}  // namespace

TEST_CASE("A set finds the plan of a sequence, with optional operators left out", "[runtime]") {
    CHECK(Set::find({relu}, floats)->name() == "Plan<Optional<Bias>, Activation<Relu>>");
    CHECK(Set::find({bias, relu}, floats)->name() == "Plan<Optional<Bias>, Activation<Relu>>");
    CHECK(Set::find({at_most}, floats)->name() == "Plan<AtMost>");
    CHECK(Set::find({relu}, rt::Types(fk::DataType::float16, fk::DataType::float32))->name() ==
          "Plan<Activation<Relu>>");
    static_assert(Set::size == 3);
}

TEST_CASE("A set that finds no plan reports the message of the broken rule", "[runtime]") {
    auto const explain = [](Sequence const& sequence) { return Set::explain(sequence, floats); };
    CHECK(
        why({conv, relu, bias}) ==
        "Plan<Conv<filter(3, 3)>, Activation<Relu>, Bias>: Bias: expected one kernel: Bias shifts the accumulator, so "
        "it stands before BatchNorm and Activation, got this operator at position 3");
    auto const broken = explain({conv, relu, bias, conv});
    CHECK(broken.reason == rt::Explanation::broken_rule);
    CHECK(broken.position == 2);
    CHECK(std::string(broken.rule) == "BiasComesEarly");
    CHECK(std::string(broken.sentence) == fk::detail::rules::BiasComesEarly::sentence);

    using namespace fk::detail::rules;
    using rt::NormMode;
    auto const norm = rt::batch_norm_training(NormMode::spatial);
    auto const sentence = [&](Sequence const& sequence) { return std::string(explain(sequence).sentence); };
    CHECK(sentence({}) == HasOperators::sentence);
    CHECK(sentence({conv, conv}) == OneHead::sentence);
    CHECK(sentence({relu, norm}) == ReductionComesFirst::sentence);
    CHECK(sentence({residual, conv}) == PrologueFits::sentence);
    CHECK(sentence({norm, rt::channel_statistics()}) == OneTotal::sentence);
    CHECK(sentence({rt::pool(rt::PoolMode::max, fk::filter(2, 2).stride(2)), relu}) == PoolComesLast::sentence);
    CHECK(sentence({rt::gemm(), rt::pool(rt::PoolMode::max, fk::filter(2, 2).stride(2))}) == PoolFits::sentence);
    CHECK(sentence({rt::store(), rt::pool(rt::PoolMode::max, fk::filter(3, 3).stride(2))}) == PooledOnce::sentence);
    CHECK(sentence({rt::gemm(), rt::batch_norm_inference(NormMode::per_activation)}) == PixelParametersFit::sentence);
    CHECK(sentence({relu, rt::batch_norm_inference(NormMode::spatial)}) == NormBeforeActivation::sentence);
    CHECK(sentence({bias, bias}) == OneOfEach::sentence);
    CHECK(sentence({at_most, conv}) == "");  // an application's operators keep the rules, too
}

TEST_CASE("A set without a plan or broken rule names the nearest plans, types and unknown operators", "[runtime]") {
    CHECK(why({bias, residual}) ==
          "Plan<Bias, Residual>: Residual: expected a sequence that the set has a plan for; the nearest: "
          "Plan<Optional<Bias>, Activation<Relu>>, got this operator at position 2");
    CHECK(why({bias, tanh_})
              .ends_with("the nearest: Plan<Optional<Bias>, Activation<Relu>>, got this operator at position 2"));
    CHECK(why({bias}).ends_with("the nearest: Plan<Optional<Bias>, Activation<Relu>>, got no operator after this one"));
    CHECK(why({relu}, fk::DataType::float64) ==
          "Plan<Activation<Relu>>: types: expected elements of float, half to float, got double to double with weights "
          "of double");
    CHECK(
        why({{rt::Kind::own, 8}}) ==
        "Plan<operator of kind 64>: operator of kind 64: expected a kind of operator that the set or the library has, "
        "got 64");
    std::string const beyond = std::to_string(rt::activation_modes), last = std::to_string(rt::activation_modes - 1);
    CHECK(why({rt::activation(static_cast<rt::ActivationMode>(rt::activation_modes))}) ==
          "Plan<Activation<mode " + beyond + ">>: Activation<mode " + beyond + ">: expected a mode from 0 to " + last +
              ", got " + beyond);
    CHECK(why(Sequence(9, relu)).ends_with(": sequence: expected at most 8 operators, got 9"));
}

TEST_CASE("A sequence that is too long is refused with the first operator that no plan has", "[runtime]") {
    CHECK(Set::accepts_prefix(Sequence{}));
    CHECK(Set::accepts_prefix(Sequence{bias}));
    CHECK(Set::accepts_prefix(Sequence{bias, relu}));
    CHECK(Set::accepts_prefix(Sequence{bias, residual}).position == 1);
    CHECK(Set::accepts_prefix(Sequence{relu, bias}).reason == rt::Explanation::broken_rule);
}

TEST_CASE("A handle runs an application's operator, prepared and rebound, and refuses wrong arguments", "[runtime]") {
    fk::host::Device device(1);
    auto const x = fk::tensor<float>(device, fk::nchw(1, 1, 1, 4), {1, 5, -2, 3});
    auto y = fk::tensor<float>(device, fk::nchw(1, 1, 1, 4), {9, 9, 9, 9});
    auto const handle = Set::find({at_most}, floats).value();
    std::array<rt::Arguments, 1> arguments;
    arguments[0].alpha = 2;
    CHECK(*handle.output_shape(arguments, x) == x.layout().shape);
    auto const values = [&] {
        std::vector<float> all(4);
        y.copy_to(all.data());
        return all;
    };
    auto const refusal = [](fk::Refusal const& refused) { return std::string(refused ? refused->what() : ""); };
    REQUIRE(refusal(handle.run(device, arguments, x, y)) == "");
    CHECK(values() == std::vector<float>{1, 2, -2, 2});

    rt::Run<fk::host::Device> run;
    arguments[0].alpha = 4;
    REQUIRE(refusal(handle.prepare(device, arguments, x, y, run)) == "");
    CHECK(run->workspace_bytes() == *handle.workspace_bytes(device, arguments, x, y));
    REQUIRE(refusal(run->run(device, x.data(), y.data())) == "");
    CHECK(values() == std::vector<float>{1, 4, -2, 3});

    arguments[0].alpha = -1;
    CHECK(refusal(handle.run(device, arguments, x, y)) == "Plan<AtMost>: AtMost.alpha: expected 0 or more, got -1");
    arguments[0].alpha = 1;
    CHECK(refusal(handle.run(device, rt::ArgumentList(nullptr, 0), x, y)) ==
          "Plan<AtMost>: arguments: expected those of 1 operators, got 0");
    rt::View half = x, matrix = x, negative = x;
    half.type = fk::DataType::float16;
    matrix.rank = 2;
    CHECK(refusal(handle.run(device, arguments, half, y)) == "Plan<AtMost>: x: expected float, got half");
    CHECK(refusal(handle.run(device, arguments, matrix, y)) == "Plan<AtMost>: x: expected 4 modes, got 2");
    rt::View odd = x;
    odd.data = static_cast<char*>(odd.data) + 2;
    CHECK(refusal(handle.run(device, arguments, odd, y)) ==
          "Plan<AtMost>: x: expected an address aligned to the element's size, got a misaligned address");
    negative.extents[3] = -4;
    CHECK_FALSE(handle.output_shape(arguments, negative));
    CHECK(refusal(handle.run(device, arguments, negative, y))
              .starts_with("Plan<AtMost>: x: expected extents of 0 or more"));
    CHECK(values() == std::vector<float>{1, 4, -2, 3});
}

TEST_CASE("A plan found at run time takes tensors of no elements, whose pointers may be null", "[runtime]") {
    fk::host::Device device(1);
    rt::View const x(fk::DataType::float32, fk::nchw(0, 3, 2, 2));
    auto const handle = Set::find({bias, relu}, floats).value();
    std::array<rt::Arguments, 2> arguments;
    arguments[0][rt::Role::bias] = rt::View(fk::DataType::float32, fk::channels(3));
    auto const refusal = [](fk::Refusal const& refused) { return std::string(refused ? refused->what() : ""); };
    CHECK(refusal(handle.run(device, arguments, x, x))
              .ends_with("Optional<Bias>.bias: expected a pointer, got a null pointer"));
    auto const values = fk::tensor<float>(device, fk::channels(3), {1, 2, 3});
    arguments[0][rt::Role::bias] = values;
    CHECK(*handle.output_shape(arguments, x) == fk::Index<4>{{0, 3, 2, 2}});
    CHECK(*handle.workspace_bytes(device, arguments, x, x) == 0);
    CHECK(refusal(handle.run(device, arguments, x, x)) == "");
    rt::Run<fk::host::Device> run;
    REQUIRE(refusal(handle.prepare(device, arguments, x, x, run)) == "");
    CHECK(refusal(run->run(device, nullptr, nullptr)) == "");
    rt::View const no_channels(fk::DataType::float32, fk::nchw(2, 0, 2, 2));
    arguments[0][rt::Role::bias] = rt::View(fk::DataType::float32, fk::channels(0));
    CHECK(refusal(handle.run(device, arguments, no_channels, no_channels)) == "");
}

TEST_CASE("An argument that is missing or does not fit is named", "[runtime]") {
    fk::host::Device device(1);
    auto const x = fk::tensor<float>(device, fk::nchw(1, 2, 1, 2), {1, -5, -2, 3});
    auto const b = fk::tensor<fk::half>(device, fk::channels(2), {fk::half(1), fk::half(-1)});
    fk::Tensor<float, fk::host::Device> y(device, x.layout());
    auto const handle = Set::find({bias, relu}, floats).value();
    std::array<rt::Arguments, 2> arguments;
    auto const refusal = [&] {
        auto const refused = handle.run(device, arguments, x, y);
        return std::string(refused ? refused->what() : "");
    };
    std::string const name = "Plan<Optional<Bias>, Activation<Relu>>: ";
    CHECK(refusal() == name + "Optional<Bias>.bias: expected a tensor, got none");
    rt::View& given = arguments[0][rt::Role::bias];
    given = rt::View(b);
    given.data = nullptr;
    CHECK(refusal() == name + "Optional<Bias>.bias: expected a pointer, got a null pointer");
    given = rt::View(b);
    given.extents[0] = 3;
    CHECK(refusal() == name + "Optional<Bias>.bias: expected 2 (K), got 3");
    given = rt::View(fk::DataType::float16, fk::nchw(1, 2, 1, 1), given.data);
    REQUIRE(refusal() == "");
    std::vector<float> values(4);
    y.copy_to(values.data());
    CHECK(values == std::vector<float>{2, 0, 0, 2});
}
