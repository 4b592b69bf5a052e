// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/hip_on_cpu/control.hpp"
#include "support/random.hpp"
#include "support/training_cases.hpp"

using namespace test;

TEST_CASE("teams fit the device and what they share out") {
    Random random(20261121);
    for (int i = 0; i < 2000; ++i) {
        std::int64_t const units = random.range(1, 5000), blocks = random.range(1, 2000), fewest = random.range(0, 300),
                           most = random.chance(0.2) ? 1 : random.range(1, 3000), bytes = random.range(0, 1 << 28),
                           cache = random.range(1 << 16, 1 << 26);
        auto const [teams, members] = fk::hip::detail::choose_teams(units, bytes, blocks, fewest, most, cache);
        INFO(units << " units of " << bytes << " B, " << blocks << " blocks, " << fewest << " to " << most
                   << " to a team, a cache of " << cache << " B");
        CHECK((teams >= 1 && members >= 1));
        CHECK((teams <= units && members <= most));
        CHECK(std::int64_t{teams} * members <= blocks);
        CHECK(members >= std::min({fewest, most, blocks}));
        bool const in_cache = bytes * teams <= cache, all_to_one = members == std::min(most, blocks);
        CHECK((in_cache || members > 1 || all_to_one));
    }
}

TEST_CASE("blocks of a team meet, and total what one block would") {
    fk::hip::Device device;
    auto const together = [] { return hip_on_cpu::calls("hipLaunchCooperativeKernel"); };
    for (oracle::Shape const& shape : {oracle::Shape{16, 2, 24, 24}, {5, 1, 55, 55}, {9, 3, 21, 23}})
        for (char const* layouts : {"nchw", "nhwc", "nchw+1"}) {
            long const before = together();
            test::detail::check_training_of<float>(test::detail::training_case(shape, layouts, true), device);
            INFO(shape.c << " channels, " << layouts);
            CHECK(together() > before);
        }
    long const before = together();
    check_training_of_integers<float>(device);
    CHECK(together() > before);
}
