// SPDX-License-Identifier: MIT
#include "fusekit/plan/log.hpp"

#include <catch2/catch_test_macros.hpp>

#include "fusekit/plan/choice.hpp"

namespace fk = fusekit;

TEST_CASE("FUSEKIT_LOG requests the log unless it is unset, empty or 0") {
    using fk::detail::requests_log;
    CHECK(requests_log("1"));
    CHECK(requests_log("01"));
    CHECK_FALSE(requests_log(nullptr));
    CHECK_FALSE(requests_log(""));
    CHECK_FALSE(requests_log("0"));
}

TEST_CASE("a line of the log has the plan, the tensors, the device and the schedule") {
    fk::Layout<4> const planes = fk::nchw(2, 3, 5, 7), last = fk::nhwc(2, 5, 7, 3);
    CHECK(fk::detail::logged(planes, fk::DataType::float32) == "float 2 x 3 x 5 x 7 (105 x 35 x 7 x 1)");
    CHECK(fk::detail::logged(last, fk::DataType::float16) == "half 2 x 3 x 5 x 7 (105 x 1 x 21 x 3)");

    fk::Choice choice = fk::Choice::named("Loop");
    CHECK(fk::detail::log_line("P", "a", "b", "d", choice, 64) ==
          "fusekit: plan=P; x=a; y=b; device=d; schedule=Loop; predicted=none; bound=none; workspace=64 B");
    choice.bound = "memory";  // without a time there is no bound
    CHECK(fk::detail::log_line("P", "a", "b", "d", choice, 0).contains("predicted=none; bound=none; workspace=0 B"));
    choice.seconds = 23.12e-6;
    CHECK(fk::detail::log_line("P", "a", "b", "d", choice, 0) ==
          "fusekit: plan=P; x=a; y=b; device=d; schedule=Loop; predicted=23.1 us; bound=memory; workspace=0 B");
    CHECK(fk::Choice().name() == "none");
}
