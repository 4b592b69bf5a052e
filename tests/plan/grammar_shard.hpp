// SPDX-License-Identifier: MIT
#pragma once

#include "plan/grammar.hpp"

template <class Device, int Shard, int Shards>
std::vector<test::grammar::Verdict<Device>> const& test::grammar::shard() {
    static auto const all = []<int... I>(std::integer_sequence<int, I...>) {
        return std::vector<Verdict<Device>>{verdict<Device, I * Shards + Shard>()...};
    }(std::make_integer_sequence<int, (sequences - Shard + Shards - 1) / Shards>{});
    return all;
}
