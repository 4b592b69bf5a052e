// SPDX-License-Identifier: MIT
#include "../../../bench/support/group.hpp"

#include <catch2/catch_test_macros.hpp>

namespace {

using namespace bench;

Row row_of(double flops, double bytes, double seconds) {
    Row row{"layer", 0, bytes / 2, flops, bytes, {}};
    row.measured.fused_seconds = seconds;
    return row;
}

TEST_CASE("A floor is the larger of operations and bytes over the peaks") {
    Ceilings const ceilings{100, 10};
    CHECK(row_of(50e9, 1e9, 1).of_floor(ceilings) == 0.5);
    CHECK(row_of(50e9, 8e9, 1).of_floor(ceilings) == 0.8);
    CHECK(row_of(0, 5e9, 2).of_floor(ceilings) == 0.25);
}

TEST_CASE("No layer is faster than its floor, whatever a busy machine says of its peaks") {
    std::vector<Row> const rows = {row_of(166e9, 1e9, 1), row_of(10e9, 2e9, 1), row_of(0, 25e9, 2)};
    Ceilings const ceilings = at_least({100, 10}, rows);
    CHECK(ceilings.gflops == 166);
    CHECK(ceilings.gigabytes_a_second == 12.5);
    for (Row const& row : rows) CHECK(row.of_floor(ceilings) <= 1);
}

TEST_CASE("Peaks before and after differ where one of them does by more than a tenth") {
    Ceilings const before{100, 10};
    CHECK(alike(before, {109, 9.5}));
    CHECK_FALSE(alike(before, {111, 10}));
    CHECK_FALSE(alike(before, {100, 9}));
    Ceilings const most = larger(before, {90, 11});
    CHECK(most.gflops == 100);
    CHECK(most.gigabytes_a_second == 11);
}

}  // namespace
