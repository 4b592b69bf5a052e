// SPDX-License-Identifier: MIT
#include "plan/grammar.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>

using namespace test;

namespace {

static_assert(grammar::allowed("C") && grammar::allowed("CBNA") && grammar::allowed("RSRS") &&
              grammar::allowed("BRNA"));
static_assert(!grammar::allowed("") && grammar::allowed("NACB") && !grammar::allowed("CC") && !grammar::allowed("AB"));
static_assert(!grammar::allowed("RC") && !grammar::allowed("ANC") && !grammar::allowed("CBC") &&
              !grammar::allowed("AN") && !grammar::allowed("NB") && !grammar::allowed("BRB") &&
              !grammar::allowed("ASA"));
static_assert(!fk::Fusable<>);

}  // namespace

TEST_CASE("the library accepts and refuses every sequence of operators as the rules do") {
    std::set<std::string> seen;
    int accepted = 0;
    for (auto const& verdict : grammar::all_verdicts<fk::host::Device, GRAMMAR_SHARDS>()) {
        INFO(verdict.word.view());
        bool const allowed = grammar::allowed(verdict.word.view());
        CHECK(verdict.fusable == allowed);
        accepted += allowed;
        seen.insert(std::string(verdict.word.view()));
    }
    CHECK(seen.size() == grammar::sequences);
    // With a prologue of 1, 2 or 3 of B, N, A and S (4, 10 and 20): 4 words of two letters, 4 * 5 + 10 of three, and
    // 4 * 19 + 10 * 5 + 20 of four.
    CHECK(accepted == grammar::with_conv[4] + grammar::without_conv[4] + 4 + 30 + 146);
}

TEST_CASE("every plan of the grammar computes what the oracle does") {
    fk::host::Device device(2);
    int const ran = grammar::run_all(grammar::all_verdicts<fk::host::Device, GRAMMAR_SHARDS>(), device,
                                     [](std::string const& about, std::string const& wrong) {
                                         INFO(about);
                                         CHECK(wrong == "");
                                     });
    CHECK(ran == grammar::runs);
}
