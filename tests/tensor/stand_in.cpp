// SPDX-License-Identifier: MIT
#include "fusekit/tensor/stand_in.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

namespace fk = fusekit;

TEST_CASE("stand-in addresses are far apart and are never those of objects") {
    auto const address = [](int number) { return reinterpret_cast<std::uintptr_t>(fk::detail::stand_in(number)); };
    for (int number = 1; number < 4096; ++number) {
        CHECK(address(number) - address(number - 1) == std::uintptr_t{1} << 48);
        CHECK(fk::detail::is_stand_in(fk::detail::stand_in(number)));
    }
    CHECK(address(0) % 4096 == 0);
    int const local = 0;
    static int const constant = 0;
    std::vector<int> const allocated(1);
    for (void const* memory : {static_cast<void const*>(&local), static_cast<void const*>(&constant),
                               static_cast<void const*>(allocated.data()), static_cast<void const*>(nullptr)})
        CHECK_FALSE(fk::detail::is_stand_in(memory));
}
