// SPDX-License-Identifier: MIT
//
// The schedule, grid and workspace that fusekit_jit chooses for a weight gradient are those of the plan as a type.
#include <set>

#include "schedules.hpp"

namespace {

using namespace test;
using namespace fusekit;
using rt::Role;

/// Random tensors for a filter: typical and odd extents, memory orders, and rows with gaps.
Problem problem_of(Filter<2> const& filter, DataType type_of_y, std::mt19937& random) {
    auto const draw = [&](int low, int high) {
        return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    auto const pick = [&](std::vector<int> const& all) {
        return all[static_cast<std::size_t>(draw(0, static_cast<int>(all.size()) - 1))];
    };
    int const groups = filter.group_count;
    std::int64_t const c = groups > 1 ? std::int64_t{groups} * (draw(0, 2) ? 1 : pick({2, 4, 8, 16, 32, 64}))
                                      : pick({1, 3, 16, 64, 72, 130, 512, 2048}),
                       k = groups > 1 ? (draw(0, 2) ? c : c * draw(1, 2)) : pick({1, 8, 64, 100, 256, 1000, 2048}),
                       n = pick({1, 2, 32, 64}), h = pick({4, 7, 13, 14, 28, 56, 224}) + filter.size[0] - 1,
                       w = draw(0, 2) ? h : draw(20, 60);
    Index<4> const x = {{n, c, h, w}}, dy = {{n, k, filter.output(0, h), filter.output(1, w)}},
                   dw = {{k, c / groups, filter.size[0], filter.size[1]}};
    char const* const orders[] = {"nhwc", "nhwc", "nchw", "nhcw"};
    char const* const order = orders[draw(0, 3)];
    char const* const other = draw(0, 5) ? order : orders[draw(0, 3)];
    Problem problem;
    problem.descriptors = {rt::conv_weight_gradient(filter)};
    problem.arguments.resize(1);
    problem.x = view_of(x, order, 1ull << 40, draw(0, 6) ? 0 : draw(1, 8));
    problem.y = view_of(dw, draw(0, 3) ? order : other, 2ull << 40);
    problem.y.type = type_of_y;
    problem.arguments[0][Role::z] = view_of(dy, other, 3ull << 40, draw(0, 6) ? 0 : draw(1, 8));
    if (draw(0, 2) == 0)
        problem.arguments[0][Role::bias] =
            rt::View(TensorView<float, 1>(reinterpret_cast<float*>(4ull << 40), channels(k)));
    return problem;
}

std::set<std::string> mainloops;
Units units;
int launched = 0;

template <Filter<2> filter, class Y = half>
void compare(int count) {
    hip::Device device(0);
    std::mt19937 random(static_cast<unsigned>(filter.size[0] + 16 * filter.strides[0] + 256 * filter.group_count));
    for (int i = 0; i < count; ++i) {
        Problem problem = problem_of(filter, data_type<Y>, random);
        Chosen const expected = chosen_by_header<Plan<ConvWeightGradient<filter>>, half, Y>(problem, device);
        Chosen const chosen = chosen_at_run_time(problem, rt::Types(DataType::float16, data_type<Y>), device);
        INFO(filter.to_string().c_str() << " number " << i << ": x " << to_string(problem.x.layout<4>().shape).c_str());
        REQUIRE(chosen.mainloop == expected.mainloop);
        REQUIRE(chosen.launch == expected.launch);
        launched += !chosen.mainloop.empty();
        units.add(chosen, filter.to_string().c_str());
        mainloops.insert(chosen.mainloop.substr(0, chosen.mainloop.find('<')));
    }
}

}  // namespace

TEST_CASE("jit weight gradients: schedules are those of a plan as a type") {
    mainloops.clear(), launched = 0;
    compare<filter(1, 1)>(200);
    compare<filter(1, 1), float>(20);
    compare<filter(1, 1).stride(2)>(30);
    compare<filter(3, 3).pad(1)>(60);
    compare<filter(3, 3).pad(1), float>(20);
    compare<filter(3, 3).pad(1).stride(2)>(30);
    compare<filter(7, 7).pad(3).stride(2)>(30);
    compare<filter(3, 3).pad(2).dilation(2)>(30);
    compare<filter(4, 4).stride(4)>(30);
    compare<filter(16, 16).stride(16)>(20);
    compare<filter(1, 1).groups(8)>(30);
    compare<filter(3, 3).pad(1).groups(32)>(60);
    compare<filter(3, 3).pad(1).groups(96)>(60);
    compare<filter(3, 3).pad(1).stride(2).groups(64)>(30);
    compare<filter(5, 5).pad(2).groups(32)>(30);
    compare<filter(5, 5).pad(2).stride(2).groups(48)>(30);
    compare<filter(7, 7).pad(3).groups(96)>(30);
    std::string all;
    for (std::string const& one : mainloops) all += one + " ";
    INFO(all << launched);
    REQUIRE(mainloops.size() == 8);  // all on compute capability 9.0
    REQUIRE(launched > 500);
    units.compile(compiles_each());
}
