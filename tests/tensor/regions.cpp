// SPDX-License-Identifier: MIT
#include "fusekit/tensor/regions.hpp"

#include <catch2/catch_test_macros.hpp>

namespace fk = fusekit;

TEST_CASE("regions conflict where they share a byte and one is written") {
    struct Arguments {
        char views[3 * 40];
    };
    fk::RegionsOf<Arguments> regions;
    auto const region = [](std::uintptr_t begin, std::uintptr_t end, bool written) {
        return fk::Region{begin, end, written, nullptr, ""};
    };
    CHECK(regions.conflict(region(0, 100, true)) == nullptr);
    regions.add(region(10, 20, false));
    regions.add(region(30, 40, true));
    CHECK(regions.conflict(region(10, 20, false)) == nullptr);
    REQUIRE(regions.conflict(region(19, 25, true)) != nullptr);
    CHECK(regions.conflict(region(19, 25, true))->begin == 10);
    CHECK(regions.conflict(region(20, 30, true)) == nullptr);
    REQUIRE(regions.conflict(region(39, 50, false)) != nullptr);
    CHECK(regions.conflict(region(39, 50, false))->begin == 30);
    CHECK(regions.conflict(region(5, 35, true))->begin == 10);
}
