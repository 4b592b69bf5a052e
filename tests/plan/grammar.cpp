// SPDX-License-Identifier: MIT
#include "plan/grammar.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>

using namespace test;

namespace {

std::vector<grammar::Verdict> all_verdicts() {
    std::vector<grammar::Verdict> all;
    for (auto const* part : {&grammar::shard<0>(), &grammar::shard<1>(), &grammar::shard<2>(), &grammar::shard<3>()})
        all.insert(all.end(), part->begin(), part->end());
    return all;
}

static_assert(grammar::allowed("C") && grammar::allowed("CBNA") && grammar::allowed("RSRS") && grammar::allowed("BRNA"));
static_assert(!grammar::allowed("") && !grammar::allowed("BC") && !grammar::allowed("CC") && !grammar::allowed("AB"));
static_assert(!grammar::allowed("AN") && !grammar::allowed("NB") && !grammar::allowed("BRB") && !grammar::allowed("ASA"));
static_assert(!fk::Fusable<>);

}  // namespace

TEST_CASE("the library accepts and refuses every sequence of operators as the rules do") {
    std::set<std::string> seen;
    int accepted = 0;
    for (auto const& verdict : all_verdicts()) {
        INFO(verdict.word.view());
        bool const allowed = grammar::allowed(verdict.word.view());
        CHECK(verdict.fusable == allowed);
        accepted += allowed;
        seen.insert(std::string(verdict.word.view()));
    }
    CHECK(seen.size() == grammar::sequences);
    CHECK(accepted == 367);  // 88 that begin with C: 1 + 5 + 19 + 63; 279 others: 5 + 19 + 63 + 192
}

TEST_CASE("every plan of up to four operators computes what the oracle does") {
    fk::host::Device device(2);
    int ran = 0;
    for (auto const& verdict : all_verdicts()) {
        if (!verdict.run) continue;
        Case const about = grammar::case_of(verdict.word.view());
        INFO("plan " << about.form << ": " << about.print());
        Problem const problem(about);
        oracle::Tensor const expected = problem.expected();
        REQUIRE(unfit(expected) == "");
        for (Bounded const& y : expected.at) REQUIRE(y.error == 0);  // so that results are compared bit for bit
        CHECK(verdict.run(problem, expected, device) == "");
        ++ran;
    }
    CHECK(ran == 367);
}
