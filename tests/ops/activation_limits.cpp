// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "fusekit/ops/activation.hpp"
#include "support/catalogue.hpp"
#include "support/floats.hpp"

using namespace test;
namespace fk = fusekit;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// Limits at infinite arguments, and at finite arguments so large that the limit is reached; for an infinite limit, the
/// value is infinite or grows.
template <class Mode, class V>
void check(char const* name, catalogue::Limits const& limits) {
    auto const args = catalogue::Line<Mode>::args(limits.args);
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

}  // namespace

TEST_CASE("activations and their slopes have their limits at both ends, and keep NaN") {
    catalogue::for_each_activation([]<class Mode>(catalogue::Line<Mode> const& line) {
        for (auto const& limits : line.facts().limits) {
            if (std::isnan(limits.low)) continue;
            check<Mode, float>(line.name, limits);
            check<Mode, Vector>(line.name, limits);
            check<Mode, double>(line.name, limits);
        }
    });
}

TEST_CASE("gelu's lower tail falls to 0") {
    for (float x = -20; x <= -8; x += 0x1p-10f) {
        double const exact = double{x} * std::erfc(-double{x} / std::sqrt(2.0)) / 2;
        float const y = fk::Gelu::apply(x, {}), slope = fk::Gelu::slope(x, {});
        CHECK((y <= 0 && double{y} >= 1.01 * exact - 0x1p-145));
        CHECK((slope <= 0 && std::fabs(slope) <= std::fabs(exact) * 16 * 1.01 + 0x1p-140));
    }
}
