// SPDX-License-Identifier: MIT
#include "fusekit/ops/activation.hpp"

#include <bit>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdio>
#include <limits>

#include "support/run_case.hpp"
#include "support/activation_plans.hpp"
#include "support/mode_arguments.hpp"

using namespace test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float largest = std::numeric_limits<float>::max();

template <int Bytes>
struct VectorOf {
    using Type [[gnu::vector_size(Bytes)]] = float;
};
using Vector = VectorOf<fk::config::vector_bytes>::Type;
constexpr int lanes = sizeof(Vector) / sizeof(float);

double ulp(double exact) {
    int const exponent = exact == 0 ? -126 : std::max(std::ilogb(exact), -126);
    return std::ldexp(1.0, exponent - 23);
}

/// How far an evaluation may be from the exact result: in ulps of it; as a share of it for x < -1; absolutely.
struct Tolerance {
    double ulps, tail = 0, absolute = 0;

    double at(double x, double exact) const {
        return ulps * ulp(exact) + absolute + (x < -1 ? tail * std::fabs(exact) : 0);
    }
};

/// Every 4999th float, as float and in vectors, and the values that are special.
template <class Mode>
void check(char const* name, typename Mode::Args const& args, Tolerance const& tolerance) {
    using Op = fk::Activation<Mode>;
    static_assert(fk::Uniform<Op> && fk::Uniform<Op, Vector>);
    oracle::Mode const exact = oracle_of<Mode>(name, args);
    double worst = 0;  // as a share of what is allowed
    float worst_at = 0;
    std::uint64_t wrong = 0, wrong_vector = 0;
    auto const compare = [&](float x, float got, std::uint64_t& count) {
        double const want = exact(static_cast<double>(x));
        double error;
        if (got == want) error = 0;
        else if (std::isnan(want)) error = std::isnan(got) ? 0 : infinity;
        else if (std::fabs(want) > largest) error = got == std::copysign(infinity, want) || std::fabs(got) == largest ? 0 : infinity;
        else error = std::fabs(got - want) / tolerance.at(x, want);
        count += !(error <= 1);
        if (!(error <= worst)) worst = error, worst_at = x;
    };
    auto const both = [&](Vector x) {
        Vector const y = Op::apply(x, args);
        for (int i = 0; i < lanes; ++i) {
            compare(x[i], y[i], wrong_vector);
            compare(x[i], Op::apply(static_cast<float>(x[i]), args), wrong);
        }
    };
    for (std::uint64_t bits = 0; bits < 0x100000000u; bits += 4999 * lanes) {
        Vector x;
        for (int i = 0; i < lanes; ++i)
            x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(std::min<std::uint64_t>(bits + 4999 * i, 0xffffffffu)));
        both(x);
    }
    for (float x = -12; x < 12; x += 0x1p-11f * lanes) {
        Vector v;
        for (int i = 0; i < lanes; ++i) v[i] = x + 0x1p-11f * static_cast<float>(i);
        both(v);
    }
    for (float const x : {0.0f, -0.0f, infinity, -infinity, not_a_number, -not_a_number, largest, -largest, 1e30f, -1e30f, 1e-6f, 88.8f, -88.8f, -104.0f})
        both(Vector{} + x);
    std::printf("%-12s worst error is %.3f of what is allowed, at %a\n", name, worst, worst_at);
    INFO(name << ": worst at " << worst_at << ", " << Op::apply(worst_at, args) << " for " << exact(static_cast<double>(worst_at)));
    CHECK(wrong == 0);
    CHECK(wrong_vector == 0);
    CHECK(std::isnan(Op::apply(not_a_number, args)));
}

}  // namespace

TEST_CASE("every activation is its equation, for every float, in scalars and in vectors") {
    check<fk::Passthru>("passthru", {}, {0});
    check<fk::Logistic>("logistic", {}, {4});
    check<fk::Tanh>("tanh", {}, {4});
    check<fk::Tanh>("tanh", {.alpha = 0.5f, .beta = -3}, {5});
    check<fk::Relu>("relu", {}, {0});
    check<fk::SoftRelu>("softrelu", {}, {4});
    check<fk::Abs>("abs", {}, {0});
    check<fk::Power>("power", {}, {2});
    check<fk::Power>("power", {.alpha = 1, .beta = 0.5f, .gamma = 2}, {4, 0, 1e-6});
    check<fk::ClippedRelu>("clippedrelu", {}, {0});
    check<fk::ClippedRelu>("clippedrelu", {.alpha = 0.75f}, {0});
    check<fk::LeakyRelu>("leakyrelu", {}, {0.5});
    check<fk::LeakyRelu>("leakyrelu", {.alpha = 0.3f}, {0.5});
    check<fk::Elu>("elu", {}, {3});
    check<fk::Elu>("elu", {.alpha = 2.5f}, {4});
    check<fk::Clamp>("clamp", {}, {0});
    check<fk::Clamp>("clamp", {.alpha = -3, .beta = 0.5f}, {0});
    check<fk::Gelu>("gelu", {}, {8, 2e-5, 2e-16});
    check<fk::GeluTanh>("gelutanh", {}, {8, 2e-5, 1e-26});
    check<fk::Silu>("silu", {}, {5, 0, 1e-42});
    check<fk::Mish>("mish", {}, {6, 0, 1e-42});
    check<fk::HardSwish>("hardswish", {}, {4});
    check<fk::HardSigmoid>("hardsigmoid", {}, {1, 0, 1e-7});
    check<fk::HardSigmoid>("hardsigmoid", {.alpha = 0.2f, .beta = 0.25f}, {1, 0, 1e-7});
    check<fk::Softsign>("softsign", {}, {2});
}

TEST_CASE("a power of 0 keeps NaN too") {
    CHECK(std::isnan(fk::Power::apply(not_a_number, {.alpha = 1, .beta = 1, .gamma = 0})));
    CHECK(fk::Power::apply(3.0f, {.alpha = 1, .beta = 1, .gamma = 0}) == 1);
}

TEST_CASE("the defaults of an activation's arguments are those of its equation") {
    CHECK(fk::Tanh::Args{}.alpha == 1);
    CHECK(fk::ClippedRelu::apply(9.0f, {}) == 6);
    CHECK(fk::Clamp::apply(-1.0f, {}) == 0);
    CHECK(fk::Clamp::apply(9.0f, {}) == 6);
    CHECK(fk::Power::apply(3.0f, {}) == 3);
    CHECK(fk::LeakyRelu::apply(-100.0f, {}) == -1);
    CHECK(fk::HardSigmoid::apply(0.0f, {}) == 0.5f);
    CHECK(fk::HardSigmoid::apply(3.0f, {}) == 1);
}

TEMPLATE_TEST_CASE("every activation runs as a plan of its own", "", fk::Passthru, fk::Logistic, fk::Tanh, fk::Relu, fk::SoftRelu,
                   fk::Abs, fk::Power, fk::ClippedRelu, fk::LeakyRelu, fk::Elu, fk::Clamp, fk::Gelu, fk::GeluTanh, fk::Silu,
                   fk::Mish, fk::HardSwish, fk::HardSigmoid, fk::Softsign) {
    fk::host::Device device(2);
    CHECK(test::wrong_places_of_activation<TestType>(device) == 0);
}
