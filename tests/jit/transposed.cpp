// SPDX-License-Identifier: MIT
//
// The schedule, grid and workspace that fusekit_jit chooses for a transposed convolution are those of the plan as a
// type. Kernels of filters that have no class of their own may differ: they compile, and have the plan's y.
#include <set>

#include "schedules.hpp"

namespace {

using namespace test;
using namespace fusekit;
using rt::Role;

enum class After { nothing, bias_relu, residual };

template <Filter<2> filter, After after>
struct PlanOf {
    using Type = Plan<TransposedConv<filter>>;
};
template <Filter<2> filter>
struct PlanOf<filter, After::bias_relu> {
    using Type = Plan<TransposedConv<filter>, Bias, Activation<Relu>>;
};
template <Filter<2> filter>
struct PlanOf<filter, After::residual> {
    using Type = Plan<TransposedConv<filter>, Residual>;
};

/// Random tensors for a filter: typical and odd extents, of the y's that have one x any, and memory orders.
Problem problem_of(Filter<2> const& filter, After after, std::mt19937& random) {
    auto const draw = [&](int low, int high) {
        return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    auto const pick = [&](std::vector<int> const& all) {
        return all[static_cast<std::size_t>(draw(0, static_cast<int>(all.size()) - 1))];
    };
    int const groups = filter.group_count;
    std::int64_t const of_group = groups > 1 && draw(0, 1) ? pick({1, 2, 4, 8, 16, 32}) : 1,
                       c = groups > 1 ? groups * of_group : pick({1, 3, 8, 16, 64, 72, 256, 512}),
                       k = groups > 1 ? groups * of_group * (draw(0, 3) ? 1 : 2) : pick({1, 8, 16, 64, 100, 256, 512}),
                       h = pick({4, 7, 13, 14, 28, 56, 112}) + filter.size[0] - 1,
                       w = draw(0, 2) ? h : draw(4, 60) + filter.size[1] - 1;
    Index<4> const of_y = {{pick({1, 2, 32}), c, h, w}},
                   of_x = {{of_y[0], k, filter.output(0, h), filter.output(1, w)}},
                   weights = {{k, c / groups, filter.size[0], filter.size[1]}};
    char const* const orders[] = {"nhwc", "nhwc", "nchw", "nhcw"};
    char const *const order = orders[draw(0, 3)], *const other = draw(0, 5) ? order : orders[draw(0, 3)];
    Problem problem;
    problem.compares_shared_memory = false;
    problem.descriptors = {rt::transposed_conv(filter)};
    if (after == After::bias_relu) {
        problem.descriptors.push_back(rt::bias());
        problem.descriptors.push_back(rt::activation(rt::ActivationMode::relu));
    }
    if (after == After::residual) problem.descriptors.push_back(rt::residual());
    problem.arguments.resize(problem.descriptors.size());
    problem.x = view_of(of_x, order, 1ull << 40, draw(0, 6) ? 0 : draw(1, 8));
    problem.y = view_of(of_y, other, 2ull << 40, draw(0, 6) ? 0 : draw(1, 8));
    problem.arguments[0][Role::weights] = view_of(weights, draw(0, 3) ? order : other, 3ull << 40);
    if (after != After::nothing) {
        problem.arguments[1][Role::z] = view_of(of_y, other, 4ull << 40);
        problem.arguments[1][Role::bias] =
            rt::View(TensorView<float, 1>(reinterpret_cast<float*>(5ull << 40), channels(c)));
    }
    return problem;
}

std::set<std::string> mainloops;
Units units;
int launched = 0;

template <Filter<2> filter, After after = After::nothing, bool is_equal = true>
void compare(int count) {
    hip::Device device(0);
    std::mt19937 random(static_cast<unsigned>(filter.size[0] + 16 * filter.strides[0] + 256 * filter.group_count));
    using Type = typename PlanOf<filter, after>::Type;
    for (int i = 0; i < count; ++i) {
        Problem const problem = problem_of(filter, after, random);
        Chosen const chosen = chosen_at_run_time(problem, DataType::float16, device);
        INFO(type_name<Type>().c_str() << " number " << i << ": x " << to_string(problem.x.layout<4>().shape).c_str()
                                       << ", y " << to_string(problem.y.layout<4>().shape).c_str());
        if constexpr (is_equal) {
            Chosen const expected = chosen_by_header<Type, half, half>(problem, device);
            REQUIRE(chosen.mainloop == expected.mainloop);
            REQUIRE(chosen.launch == expected.launch);
        } else {
            INFO(chosen.launch);
            REQUIRE_FALSE(chosen.mainloop.empty());
        }
        launched += !chosen.mainloop.empty();
        units.add(chosen, type_name<Type>().c_str());
        mainloops.insert(chosen.mainloop.substr(0, chosen.mainloop.find('<')));
    }
}

}  // namespace

TEST_CASE("jit transposed: schedules are those of a plan as a type") {
    compare<filter(1, 1)>(60);
    compare<filter(1, 1), After::bias_relu>(30);
    compare<filter(1, 1).pad(1)>(20);
    compare<filter(3, 3).pad(1)>(100);
    compare<filter(3, 3).pad(1), After::bias_relu>(60);
    compare<filter(3, 3).pad(1), After::residual>(60);
    compare<filter(3, 3).pad(2).dilation(2)>(40);
    compare<filter(7, 7).pad(3)>(40);
    compare<filter(20, 20)>(30);
    compare<filter(3, 3).pad(1).groups(32)>(60);
    compare<filter(5, 5).pad(2).groups(48)>(40);
    compare<filter(7, 7).pad(3).groups(96), After::residual>(40);
    compare<filter(4, 4).pad(1).stride(1, 2)>(30);
    compare<filter(1, 1).stride(2)>(60);
    compare<filter(3, 3).pad(1).stride(2)>(60);
    compare<filter(3, 3).pad(1).stride(2), After::bias_relu>(60);
    compare<filter(7, 7).pad(3).stride(2), After::residual>(60);
    compare<filter(4, 4).stride(4)>(40);
    compare<filter(3, 3).pad(1).stride(2).groups(32)>(60);
    compare<filter(5, 5).pad(2).stride(2).groups(48)>(40);
    // filters without a class of their own
    compare<filter(1, 1).groups(8), After::nothing, false>(30);
    compare<filter(16, 16), After::nothing, false>(30);
    compare<filter(3, 3).pad(1).stride(3), After::nothing, false>(30);
    compare<filter(7, 7).pad(3).stride(2).groups(32), After::nothing, false>(30);
    compare<filter(3, 3).pad(2).stride(2).dilation(2), After::bias_relu, false>(30);
    compare<filter(3, 5).pad(1).groups(32), After::bias_relu, false>(30);
    compare<filter(3, 3).pad(1).stride(2).dilation(3).groups(16), After::nothing, false>(30);
    compare<filter(2, 2).stride(5), After::residual, false>(30);
    compare<filter(16, 16).stride(16), After::nothing, false>(20);
    std::string all;
    for (std::string const& one : mainloops) all += one + " ";
    INFO(all << launched);
    REQUIRE(mainloops.size() >= 12);
    REQUIRE(launched > 1000);
    units.compile(compiles_each());
}
