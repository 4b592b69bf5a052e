// SPDX-License-Identifier: MIT
#include "plan/grammar.hpp"

template <>
std::vector<test::grammar::Verdict> const& test::grammar::shard<3>() {
    static auto const all = make_shard<3>();
    return all;
}
