// SPDX-License-Identifier: MIT
#include "fusekit/plan/args.hpp"

#include <catch2/catch_test_macros.hpp>

namespace fk = fusekit;

namespace {

struct First {
    struct Args {
        float factor;
    };
};
struct Second {
    struct Args {
        int number = 0;
    };
};

}  // namespace

TEST_CASE("a kernel's tuple is an aggregate and trivially copyable") {
    using Tuple = fk::detail::KernelTuple<float, int, float>;
    STATIC_CHECK(std::is_aggregate_v<Tuple>);
    STATIC_CHECK(std::is_trivially_copyable_v<Tuple>);
    STATIC_CHECK(sizeof(Tuple) == 12);
    Tuple tuple{{1.5f}, {2}, {3.5f}};
    CHECK((fk::detail::get<0>(tuple) == 1.5f && fk::detail::get<1>(tuple) == 2 && fk::detail::get<2>(tuple) == 3.5f));
    fk::detail::get<2>(tuple) = 4;
    CHECK(fk::detail::get<2>(std::as_const(tuple)) == 4);
    STATIC_CHECK(std::is_same_v<fk::detail::TypeAt<1, float, int, double>, int>);
    STATIC_CHECK(std::is_trivially_copyable_v<fk::detail::KernelTuple<>>);
}

TEST_CASE("arguments are found by their type, wherever they stand") {
    First::Args const first{2.0f};
    Second::Args const second{3};
    CHECK(fk::detail::argument_of<First>(second, first).factor == 2.0f);
    CHECK(fk::detail::argument_of<Second>(second, first).number == 3);
    STATIC_CHECK(fk::detail::belongs_to_plan<First::Args, Second, First>());
}
