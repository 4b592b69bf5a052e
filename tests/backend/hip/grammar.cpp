// SPDX-License-Identifier: MIT
#include "plan/grammar.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "backend/hip/one_schedule.hpp"

using namespace test;

TEST_CASE("HIP: every plan of the grammar computes what the oracle does") {
    fk::hip::Device const device = gpu();
    ChannelsLastDirect on(device);
    int const ran = grammar::run_all(grammar::all_verdicts<ChannelsLastDirect, GRAMMAR_SHARDS>(), on,
                                     [](std::string const& about, std::string const& wrong) {
                                         INFO(about);
                                         CHECK(wrong == "");
                                     });
    CHECK(ran == grammar::runs);
}
