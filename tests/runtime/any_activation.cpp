// SPDX-License-Identifier: MIT
#include "fusekit/runtime/any_activation.hpp"

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <limits>
#include <string>

#include "../../examples/pytorch/fusekit_torch/csrc/activation.hpp"
#include "fusekit/runtime/optional.hpp"
#include "support/catalogue.hpp"

namespace fk = fusekit;
namespace rt = fk::runtime;

namespace {

float const values[] = {0.0f,
                        -0.0f,
                        1e-6f,
                        -1e-3f,
                        0.3f,
                        -0.7f,
                        1.0f,
                        -2.5f,
                        5.9f,
                        6.1f,
                        -40.0f,
                        3e38f,
                        -3e38f,
                        std::numeric_limits<float>::infinity(),
                        -std::numeric_limits<float>::infinity(),
                        std::numeric_limits<float>::quiet_NaN(),
                        1e-45f};

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

/// Bitwise identical, or both NaN: compilers decide the sign of a NaN.
bool same(float a, float b) { return bits(a) == bits(b) || (a != a && b != b); }

template <int Number>
void check_mode() {
    using Mode = typename std::remove_cvref_t<decltype(test::catalogue::line<Number>)>::Mode;
    // A mode of the library without a number does not compile here; nor one that is not in MIOpen's order.
    static_assert(rt::number_of_mode<Mode> == Number);
    INFO(test::catalogue::line<Number>.name);
    auto const mode = static_cast<rt::ActivationMode>(Number);
    CHECK(fk::type_name<Mode>() == rt::name(mode));
    rt::AnyActivation::Args const any{mode, 0.75f, 0.5f, 1.5f};
    auto const own = rt::detail::mode_arguments<Mode>(0.75f, 0.5f, 1.5f);
    for (float x : values) {
        INFO(x);
        CHECK(same(rt::AnyActivation::apply(x, any), fk::Activation<Mode>::apply(x, own)));
        CHECK(same(rt::AnyActivation::slope(x, any), fk::Activation<Mode>::slope(x, own)));
        fusekit_torch::AnyMode::Args const of_torch{mode, 0.75f, 0.5f, 1.5f};
        CHECK(same(fusekit_torch::AnyMode::apply(x, of_torch), fk::Activation<Mode>::apply(x, own)));
        CHECK(same(fusekit_torch::AnyMode::slope(x, of_torch), fk::Activation<Mode>::slope(x, own)));
        if (fusekit_torch::is_clamp(mode) && x == x)
            CHECK(fk::Clamp::apply(x, fusekit_torch::bounds_of(of_torch)) == fk::Activation<Mode>::apply(x, own));
    }
}

}  // namespace

TEST_CASE("AnyActivation is bitwise identical to the activation of its number", "[runtime]") {
    static_assert(test::catalogue::modes == rt::activation_modes);
    [&]<int... Number>(std::integer_sequence<int, Number...>) {
        (check_mode<Number>(), ...);
    }(std::make_integer_sequence<int, rt::activation_modes>{});
}

TEST_CASE("PyTorch's extension names every activation, in lower case, once", "[runtime]") {
    CHECK(std::size(fusekit_torch::named_kinds) == rt::activation_modes);
    for (auto const& each : fusekit_torch::named_kinds) {
        std::string name;  // LeakyRelu is leaky_relu
        for (char const* c = rt::name(each.kind); *c; ++c) {
            bool const is_capital = *c >= 'A' && *c <= 'Z';
            if (is_capital && !name.empty()) name += '_';
            name += static_cast<char>(is_capital ? *c - 'A' + 'a' : *c);
        }
        CHECK(each.name == name);
    }
}

TEST_CASE("An optional operator that is left out is bitwise the identity", "[runtime]") {
    using Bias = rt::Optional<fk::Bias>;
    using Norm = rt::Optional<fk::BatchNormInference<fk::Spatial>>;
    using Scale = rt::Optional<fk::Scale>;
    for (float x : values) {
        INFO(x);
        CHECK(bits(Bias::apply(x, Bias::prepare(3, Bias::absent()))) == bits(x));
        CHECK(bits(Norm::apply(x, Norm::prepare(3, Norm::absent()))) == bits(x));
        CHECK(bits(Scale::apply(x, Scale::absent())) == bits(x));
    }
}
