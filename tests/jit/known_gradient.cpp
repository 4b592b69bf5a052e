// SPDX-License-Identifier: MIT
#include "device/known_gradient.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <limits>

namespace {

namespace fk = fusekit;

/// True if two floats are bitwise identical.
bool same(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float values[] = {-infinity, -7.5f, -1, -0.25f, -0.0f, 0, 1e-30f, 0.5f, 3, 100, infinity, NAN};

/// Compares with Activation<Mode>, whose Args have the first of alpha, beta and gamma.
template <class Mode>
void compare(typename Mode::Args const& args) {
    using Known = fk::jit::KnownActivation<Mode>;
    fk::runtime::ActivationArguments const given{fk::runtime::ActivationMode::passthru, 0.75f, 0.5f, 2};
    for (float const x : values) {
        INFO(x);
        REQUIRE(same(Known::apply(x, given), fk::Activation<Mode>::apply(x, args)));
        REQUIRE(same(Known::slope(x, given), fk::Activation<Mode>::slope(x, args)));
    }
}

}  // namespace

TEST_CASE("jit: an activation with the arguments of any has its values and slopes") {
    compare<fk::Relu>({});
    compare<fk::Gelu>({});
    compare<fk::LeakyRelu>({0.75f});
    compare<fk::Clamp>({0.75f, 0.5f});
    compare<fk::Power>({0.75f, 0.5f, 2});
    static_assert(sizeof(fk::jit::KnownActivation<fk::Power>::Args) == sizeof(fk::runtime::AnyActivation::Args) &&
                  sizeof(fk::jit::NoActivation::Args) == sizeof(fk::runtime::AnyActivation::Args));
}

TEST_CASE("jit: a gradient without an activation passes dy on, whatever x is") {
    for (float const x : values) {
        REQUIRE(fk::jit::NoActivation::slope(x, {}) == 1);
        REQUIRE(same(fk::jit::NoActivation::apply(x, {}), x));
    }
}
