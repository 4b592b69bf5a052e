// SPDX-License-Identifier: MIT
#include "plan/slope.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "plan/grammar.hpp"
#include "support/finite_differences.hpp"
#include "support/random.hpp"

using namespace test;

namespace {

constexpr double step = 0x1p-10;

/// The words without C, and those with N a second time.
constexpr int all_plans = grammar::without_conv[grammar::longest_run] + (grammar::longest_run == 4 ? 120 : 32);
static_assert(grammar::longest_run >= 3);

/// Numbers of a problem that are parameters with gradients, in Backward's order.
std::vector<std::vector<std::vector<double>*>> parameters_of(Problem& problem) {
    std::vector<std::vector<std::vector<double>*>> all;
    for (Step& step : problem.steps) {
        auto& own = all.emplace_back();
        if (step.letter == 'B' || step.letter == 'R') own = {&step.values};
        if (step.letter == 'N' || step.letter == 'M') own = {&step.statistics.scale, &step.statistics.shift};
    }
    return all;
}

struct Count {
    int plans = 0, dx = 0, parameters = 0, kinks = 0;
    double worst = 0;
};

/// Compares dx and every parameter gradient of L = sum of dy y with differences of L.
void check_gradients(Problem const& given, Chain const& chain, Count& count) {
    Random random(given.about.seed + 1);
    std::vector<double> dy;
    for (std::size_t i = 0; i < given.x.size(); ++i) dy.push_back(2 * random.uniform() - 1);
    PlanGradients const got = chain.backward(dy);
    double worst = 0;
    auto const compare = [&](double value, Estimate<double> const& expected, int& counted) {
        double const size = std::fmax(1, std::fabs(expected.value));
        if (expected.error > 1e-8 * size) {
            ++count.kinks;
            return;
        }
        double const off = std::fabs(value - expected.value) / size;
        if (!(off <= worst)) worst = off;
        ++counted;
    };
    for (std::size_t i = 0; i < dy.size(); ++i)
        compare(got.dx[i], derivative([&](double x) { return dy[i] * chain.run(i, x); }, given.x[i], step), count.dx);

    Problem problem = given;
    auto const parameters = parameters_of(problem);
    for (std::size_t op = 0; op < parameters.size(); ++op)
        for (std::size_t number = 0; number < got.parameters[op].size(); ++number)
            for (std::size_t i = 0; i < got.parameters[op][number].size(); ++i) {
                double& parameter = (*parameters[op][number])[i];
                double const kept = parameter;
                auto const loss = [&](double value) {
                    parameter = value;
                    std::vector<double> const y = chain.all(problem);
                    double sum = 0;
                    for (std::size_t j = 0; j < y.size(); ++j) sum += dy[j] * y[j];
                    return sum;
                };
                compare(got.parameters[op][number][i], derivative(loss, kept, step), count.parameters);
                parameter = kept;
            }
    INFO(given.about.print());
    CHECK(worst <= 1e-6);
    if (!(worst <= count.worst)) count.worst = worst;
    ++count.plans;
}

}  // namespace

TEST_CASE("a chain's derivative is the product of its operators' slopes, for every pointwise plan of the grammar") {
    fk::host::Device device(1);
    int plans = 0, checked = 0, kinks = 0, flat = 0;
    double worst = 0;
    std::set<std::string> modes;
    auto const check = [&](Problem const& problem, Chain const& chain) {
        double worst_here = 0;
        for (std::size_t i = 0; i < problem.x.size(); ++i) {
            double const x = problem.x[i];
            auto const [expected, error] = derivative([&](double value) { return chain.run(i, value); }, x, step);
            if (error > 1e-9 * std::fmax(1, std::fabs(expected))) {
                ++kinks;
                continue;
            }
            double const off = std::fabs(chain.slope(i, x) - expected) / std::fmax(1, std::fabs(expected));
            if (!(off <= worst_here)) worst_here = off;
            flat += expected == 0 || expected == 1;
            ++checked;
        }
        INFO(problem.about.print());
        CHECK(worst_here <= 1e-8);
        if (!(worst_here <= worst)) worst = worst_here;
        modes.insert(problem.about.mode);
        ++plans;
    };
    [&]<int... I>(std::integer_sequence<int, I...>) {
        (for_each_chain<I, SLOPE_SHARDS>(device, check), ...);
    }(std::make_integer_sequence<int, SLOPE_SHARDS>{});
    std::printf("%d plans, %d derivatives, %d left out for a kink, worst difference %.3g\n", plans, checked, kinks,
                worst);
    CHECK(plans == all_plans);
    CHECK(modes.size() == 19);  // every mode, and none
    CHECK(kinks * 50 < checked);
    CHECK(flat * 4 < checked);
}

TEST_CASE("Backward of every pointwise plan of the grammar agrees with finite differences in double") {
    fk::host::Device device(1);
    Count count;
    auto const check = [&](Problem const& problem, Chain const& chain) { check_gradients(problem, chain, count); };
    [&]<int... I>(std::integer_sequence<int, I...>) {
        (for_each_chain<I, SLOPE_SHARDS>(device, check), ...);
    }(std::make_integer_sequence<int, SLOPE_SHARDS>{});
    std::printf("%d plans, %d derivatives by x and %d by parameters, %d left out for a kink, worst difference %.3g\n",
                count.plans, count.dx, count.parameters, count.kinks, count.worst);
    CHECK(count.plans == all_plans);
    CHECK(count.dx > all_plans * 30);
    CHECK(count.parameters > all_plans * 5);
    CHECK(count.kinks * 20 < count.dx + count.parameters);
}
