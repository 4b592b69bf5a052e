// SPDX-License-Identifier: MIT
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdio>
#include <limits>

#include "support/catalogue.hpp"
#include "support/forms.hpp"
#include "support/mode_arguments.hpp"
#include "support/refusal.hpp"
#include "support/static_geometries.hpp"
#include "support/user_operators.hpp"

using namespace test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Error bound of a result, in ulps of the magnitude of its terms: one rounding per operation; in a tail, the ulps of
/// exp's rounded argument; and the smallest doubles times the factor of an exp, at most 21.5 times a rate of 100.
template <class Bound>
long double allowed(Bound const& bound, double x, long double magnitude) {
    return (bound.ulps + bound.tail(x)) * 0x1p-52L * magnitude + 0x1p-1061L;
}

/// Compares apply and slope in double with the equation and its derivative in long double, over [-50, 50] and near the
/// limits of double's exp.
template <class Mode>
void check(char const* name, catalogue::DoubleBound const& bound) {
    auto const args = catalogue::Line<Mode>::args(bound.args);
    static_assert(fk::Uniform<fk::Activation<Mode>, double> && fk::Differentiable<fk::Activation<Mode>, double>);
    oracle::Mode const exact = oracle_of<Mode>(name, args);
    bool const gated = exact.kind().gated;
    long double worst = 0, worst_at = 0;
    int points = 0;
    auto const compare = [&](double got, long double want, long double x, long double magnitude) {
        long double const error = std::fabs(got - want) / allowed(bound, static_cast<double>(x), magnitude);
        if (!(error <= worst)) worst = error, worst_at = x;
    };
    for (double x = -760; x < 760; x += std::fabs(x) < 50 ? 0.00713 : 0.713) {
        long double const at = x, y = exact(at), slope = exact.slope(at), gate = y / at;
        // near a kink whose argument is a sum, the sum's rounding decides the side
        if (exact.slope(at - 1e-12L) != exact.slope(at + 1e-12L) && std::fabs(exact.slope(at - 1e-12L) - slope) > 1e-3L)
            continue;
        compare(Mode::apply(x, args), y, at, std::fabs(y));
        compare(Mode::slope(x, args), slope, at, gated ? std::fabs(gate) + std::fabs(slope - gate) : std::fabs(slope));
        ++points;
    }
    std::printf("double %-12s worst error is %.3Lf of what is allowed, at %.17Lg\n", name, worst, worst_at);
    INFO(name << ": worst at " << static_cast<double>(worst_at));
    CHECK(worst <= 1);
    CHECK(points > 10000);
    CHECK(std::isnan(Mode::apply(not_a_number, args)));
    CHECK(std::isnan(Mode::slope(not_a_number, args)));
    for (double const x : {infinity, -infinity, 1e300, -1e300}) {
        double const limit = static_cast<double>(exact(static_cast<long double>(x)));
        CHECK(Mode::apply(x, args) == limit);
        CHECK(!std::isnan(Mode::slope(x, args)));
    }
}

}  // namespace

TEST_CASE("every activation computes in double, its slope too") {
    catalogue::for_each_activation([]<class Mode>(catalogue::Line<Mode> const& line) {
        for (auto const& bound : line.facts().doubles)
            if (bound.ulps >= 0) check<Mode>(line.name, bound);
    });
}

TEST_CASE("plans on double compute in double what the oracle does") {
    int ran = 0;
    Random random(20261121);
    fk::host::Device device(3);
    for (Form<fk::host::Device> const& form : forms<fk::host::Device, double>())
        for (int number = 0; number < 12; ++number) {
            Case about = random_case(random, {{form.letters, form.mode}}, 2e6);
            about.type = fk::DataType::float64;
            about.parameters = random.pick(
                {fk::DataType::float64, fk::DataType::float64, fk::DataType::float32, fk::DataType::float16});
            about.real = number % 4 != 0;
            Problem const problem(about);
            oracle::Tensor const expected = problem.expected();
            if (unfit(expected) != "") continue;
            INFO(about.print());
            CHECK(form.run(problem, expected, device) == "");
            ++ran;
        }
    CHECK(ran > 10 * static_cast<int>(forms<fk::host::Device, double>().size()));
}

TEST_CASE("signals, images and volumes of double are convolved by their definition") {
    fk::host::Device two(2);
    auto const device = [&](std::uint64_t) -> fk::host::Device& { return two; };
    check_geometry<double, fk::filter(4).pad(6).dilation(3).groups(3)>({2, 6, 1, 23}, 9, device);
    check_geometry<double, fk::filter(5, 2).pad(1, 0, 2, 1).stride(1, 2).dilation(2, 3)>({2, 3, 14, 17}, 5, device);
    check_geometry<double, fk::filter(2, 3, 1).pad(2, 0, 0, 0, 2, 1).stride(1, 2, 3)>({2, 3, 8, 9, 5}, 5, device);
}

TEST_CASE("users' operators run in double if they accept double, with float or double parameters") {
    fk::host::Device device(2);
    auto const x = fk::random<double>(device, fk::nchw(2, 3, 4, 5), 1),
               z = fk::random<double>(device, fk::nhwc(2, 4, 5, 3), 2);
    auto const shifts = fk::tensor<double>(device, fk::channels(3), {1e-15, 0.1, -0.3});
    auto const y = fk::Plan<PerChannel, fk::Bias, Anywhere>::bind({}, {.bias = shifts}, {.z = z})(device, x);
    int wrong = 0;
    for (int n = 0; n < 2; ++n)
        for (int k = 0; k < 3; ++k)
            for (int p = 0; p < 4; ++p)
                for (int q = 0; q < 5; ++q) {
                    double const at = x.const_view()(n, k, p, q), bias = shifts.const_view()(k);
                    double const want = at * (k + 1) - k + bias + z.const_view()(n, k, p, q);
                    wrong += !(std::fabs(y.const_view()(n, k, p, q) - want) <= 0x1p-50);  // four roundings of at most 4
                }
    CHECK(wrong == 0);
}

TEST_CASE("statistics on double are totalled in double") {
    fk::host::Device device(2);
    auto const x = fk::tensor<double>(device, fk::nchw(2, 1, 1, 2), {1e9 + 1, 1e9 + 2, 1e9 + 4, 1e9 + 5});
    auto mean = fk::tensor<float>(device, fk::channels(1), {0}),
         variance = fk::tensor<float>(device, fk::channels(1), {0});
    auto const y = fk::Plan<fk::Scale, fk::ChannelStatistics>::bind({.factor = 2},
                                                                    {.mean = mean, .variance = variance})(device, x);
    CHECK(y.const_view()(1, 0, 0, 1) == 2e9 + 10);
    CHECK(mean.const_view()(0) == 2e9f);
    CHECK(variance.const_view()(0) == 10);
    auto const w = fk::tensor<double>(device, fk::kcrs(1, 1, 1, 1), {2});
    auto scratch = fk::tensor<float>(device, fk::channels(3), {0, 0, 0});
    auto const z = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::ChannelStatistics>::bind(
        {.weights = w}, {.mean = mean, .variance = variance, .scratch = scratch})(device, y);
    CHECK(z.const_view()(1, 0, 0, 1) == 4e9 + 20);
    CHECK(mean.const_view()(0) == 4e9f);
    CHECK(variance.const_view()(0) == 40);
}

namespace {
struct Unchecked : Anywhere {
    static void check(Args const&, fk::Check const&) {}
};
}  // namespace

TEST_CASE("double is refused with an input of another type") {
    fk::host::Device device(1);
    auto const x = fk::random<float>(device, fk::nchw(1, 2, 3, 4));
    auto const bias = fk::tensor<double>(device, fk::channels(2), {1, 2});
    CHECK(refusal([&] { (void)fk::Plan<fk::Bias>::bind({.bias = bias})(device, x); }) ==
          "Plan<Bias>: Bias.bias: expected float, half or bfloat16, as the input is float, got double");
    auto const z = fk::random<double>(device, fk::nchw(1, 2, 3, 4), 3);
    CHECK_THROWS_AS(fk::Plan<Anywhere>::bind({.z = z})(device, x), fk::Error);  // by the default check
    auto const y = fk::Plan<Unchecked>::bind({.z = z})(device, x);  // rounds
    for (int k = 0; k < 2; ++k)
        CHECK(y.const_view()(0, k, 2, 3) ==
              x.const_view()(0, k, 2, 3) + static_cast<float>(z.const_view()(0, k, 2, 3)));
    CHECK_THROWS_AS(fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind(
                        {.weights = fk::TensorView<double const>(z.data(), fk::kcrs(2, 2, 1, 1))})(device, x),
                    fk::Error);
}
