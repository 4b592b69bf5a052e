// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "hip_on_cpu/control.hpp"
#include "support/random.hpp"
#include "support/training_cases.hpp"

using namespace test;

TEST_CASE("grid groups fit the device and the reduction") {
    Random random(20261121);
    for (int i = 0; i < 2000; ++i) {
        std::int64_t const segments = random.range(1, 5000), blocks = random.range(1, 2000),
                           fewest = random.range(0, 300), most = random.chance(0.2) ? 1 : random.range(1, 3000),
                           bytes = random.range(0, 1 << 28), cache = random.range(1 << 16, 1 << 26);
        auto const [grid_groups, group_size] =
            fk::hip::detail::choose_grid_groups(segments, bytes, blocks, fewest, most, cache);
        INFO(segments << " segments of " << bytes << " B, " << blocks << " blocks, " << fewest << " to " << most
                      << " to a grid group, a cache of " << cache << " B");
        CHECK((grid_groups >= 1 && group_size >= 1));
        CHECK((grid_groups <= segments && group_size <= most));
        CHECK(std::int64_t{grid_groups} * group_size <= blocks);
        CHECK(group_size >= std::min({fewest, most, blocks}));
        bool const in_cache = bytes * grid_groups <= cache, all_to_one = group_size == std::min(most, blocks);
        CHECK((in_cache || group_size > 1 || all_to_one));
    }
}

TEST_CASE("CTAs of a grid group synchronize, and total the same values as one CTA") {
    fk::hip::Device gpu;
    // CTAs so small that clusters would need more iterations than they may have
    auto device = gpu.with<fk::hip::Reduction<64, 16, 2>>();
    auto const cooperative_launches = [] { return hip_on_cpu::calls("hipLaunchCooperativeKernel"); };
    auto const check = [&](oracle::Shape const& shape, char const* layouts) {
        long const before = cooperative_launches();
        test::detail::check_training_of<float>(test::detail::training_case(shape, layouts, true), device);
        INFO(shape.c << " channels, " << layouts);
        CHECK(cooperative_launches() > before);
    };
    check({16, 2, 33, 36}, "nchw");
    check({9, 8, 15, 16}, "nhwc");
    for (char const* layouts : {"nchw", "nhwc", "nchw+1"}) check({9, 3, 21, 23}, layouts);
    check({5, 1, 55, 55}, "nchw");
}
