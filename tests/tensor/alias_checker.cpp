// SPDX-License-Identifier: MIT
#include "fusekit/tensor/alias_checker.hpp"

#include <catch2/catch_test_macros.hpp>

namespace fk = fusekit;

TEST_CASE("aliases conflict if they share a byte and one is written") {
    struct Arguments {
        char views[3 * 40];
    };
    fk::detail::AliasCheckerOf<Arguments> aliases;
    auto const region = [](std::uintptr_t begin, std::uintptr_t end, bool written) {
        return fk::detail::Region{.begin = begin,
                                  .end = end,
                                  .first = begin,
                                  .access = written ? fk::Access::written : fk::Access::read,
                                  .type = fk::DataType::int8,
                                  .rank = 1,
                                  .extent = {static_cast<std::int64_t>(end - begin)},
                                  .stride = {1}};
    };
    CHECK(aliases.conflict(region(0, 100, true)) == nullptr);
    aliases.add(region(10, 20, false));
    aliases.add(region(30, 40, true));
    CHECK(aliases.conflict(region(10, 20, false)) == nullptr);
    REQUIRE(aliases.conflict(region(19, 25, true)) != nullptr);
    CHECK(aliases.conflict(region(19, 25, true))->begin == 10);
    CHECK(aliases.conflict(region(20, 30, true)) == nullptr);
    REQUIRE(aliases.conflict(region(39, 50, false)) != nullptr);
    CHECK(aliases.conflict(region(39, 50, false))->begin == 30);
    CHECK(aliases.conflict(region(5, 35, true))->begin == 10);
}
