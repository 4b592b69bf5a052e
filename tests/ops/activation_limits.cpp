// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "fusekit/ops/activation.hpp"
#include "support/floats.hpp"

using namespace test;
namespace fk = fusekit;

namespace {

/// What a mode and its slope are where x has left all that bends, written by hand: of -infinity and of infinity.
struct Limits {
    double low, high, slope_low, slope_high;
};

constexpr double inf = std::numeric_limits<double>::infinity();

/// The limits of infinite arguments, and of finite ones that are so large that nothing else can be told from them: of a
/// limit that is infinite, that the value is there already or on its way.
template <class Mode, class V>
void check(char const* name, typename Mode::Args const& args, Limits const& limits) {
    auto const first = [](V v) {
        if constexpr (sizeof(V) > sizeof(double)) return double{v[lanes - 1]};
        else return static_cast<double>(v);
    };
    auto const apply = [&](double x) { return first(Mode::apply(V{} + static_cast<fk::math::Scalar<V>>(x), args)); };
    auto const slope = [&](double x) { return first(Mode::slope(V{} + static_cast<fk::math::Scalar<V>>(x), args)); };
    INFO(name << ", elements of " << sizeof(V) << " bytes");
    CHECK(apply(-inf) == limits.low);
    CHECK(apply(inf) == limits.high);
    CHECK(slope(-inf) == limits.slope_low);
    CHECK(slope(inf) == limits.slope_high);
    CHECK(std::isnan(apply(std::nan(""))));
    CHECK(std::isnan(slope(std::nan(""))));
    CHECK(apply(-0.0) == apply(0.0));
    CHECK(slope(-0.0) == slope(0.0));
    for (double const far : {1e4, 1e15, 3e38}) {
        INFO(far);
        for (double const x : {-far, far}) {
            double const limit = x < 0 ? limits.low : limits.high, got = apply(x);
            if (std::isinf(limit))
                CHECK((got == limit || (std::signbit(got) == std::signbit(limit) && std::fabs(got) >= 0.009 * far)));
            else CHECK(std::fabs(got - limit) <= 2 / far);
        }
        CHECK(std::fabs(slope(-far) - limits.slope_low) <= 2 / far);
        CHECK(std::fabs(slope(far) - limits.slope_high) <= 2 / far);
    }
}

template <class Mode>
void check(char const* name, typename Mode::Args const& args, Limits const& limits) {
    check<Mode, float>(name, args, limits);
    check<Mode, Vector>(name, args, limits);
    check<Mode, double>(name, args, limits);
}

}  // namespace

TEST_CASE("activations and their slopes have their limits at both ends, and keep NaN") {
    check<fk::Passthru>("passthru", {}, {-inf, inf, 1, 1});
    check<fk::Logistic>("logistic", {}, {0, 1, 0, 0});
    check<fk::Tanh>("tanh", {.alpha = 0.5f, .beta = 3}, {-3, 3, 0, 0});
    check<fk::Relu>("relu", {}, {0, inf, 0, 1});
    check<fk::SoftRelu>("softrelu", {}, {0, inf, 0, 1});
    check<fk::Abs>("abs", {}, {inf, inf, -1, 1});
    check<fk::Power>("power of 1", {.alpha = 1, .beta = 1, .gamma = 1}, {0, inf, 0, 1});
    check<fk::Power>("power of -1", {.alpha = 1, .beta = 1, .gamma = -1}, {0, 0, 0, 0});
    check<fk::Power>("power of 0", {.alpha = 1, .beta = 1, .gamma = 0}, {0, 1, 0, 0});
    check<fk::ClippedRelu>("clippedrelu", {.alpha = 6}, {0, 6, 0, 0});
    check<fk::LeakyRelu>("leakyrelu", {.alpha = 0.125f}, {-inf, inf, 0.125, 1});
    check<fk::Elu>("elu", {.alpha = 2.5f}, {-2.5, inf, 0, 1});
    check<fk::Clamp>("clamp", {.alpha = -3, .beta = 0.5f}, {-3, 0.5, 0, 0});
    check<fk::Gelu>("gelu", {}, {0, inf, 0, 1});
    check<fk::GeluTanh>("gelutanh", {}, {0, inf, 0, 1});
    check<fk::Silu>("silu", {}, {0, inf, 0, 1});
    check<fk::Mish>("mish", {}, {0, inf, 0, 1});
    check<fk::HardSwish>("hardswish", {}, {0, inf, 0, 1});
    check<fk::HardSigmoid>("hardsigmoid", {.alpha = 0.25f, .beta = 0.5f}, {0, 1, 0, 0});
    check<fk::Softsign>("softsign", {}, {-1, 1, 0, 0});
}

TEST_CASE("gelu's lower tail falls to 0") {
    for (float x = -20; x <= -8; x += 0x1p-10f) {
        double const exact = double{x} * std::erfc(-double{x} / std::sqrt(2.0)) / 2;
        float const y = fk::Gelu::apply(x, {}), slope = fk::Gelu::slope(x, {});
        CHECK((y <= 0 && double{y} >= 1.01 * exact - 0x1p-145));
        CHECK((slope <= 0 && std::fabs(slope) <= std::fabs(exact) * 16 * 1.01 + 0x1p-140));
    }
}
