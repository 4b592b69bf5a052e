// SPDX-License-Identifier: MIT
#include "plan/grammar.hpp"

template <>
std::vector<test::grammar::Verdict> const& test::grammar::shard<1>() {
    static auto const all = make_shard<1>();
    return all;
}
