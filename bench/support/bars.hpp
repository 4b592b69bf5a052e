// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "support/group.hpp"

namespace bench {

namespace detail {

/// True if `ratio(row)` is at least `bar` in all rows that `counts(row)` selects; prints the row with the smallest.
template <class Ratio, class Counts>
void print_bar(Group const& group, char const* what, double bar, Ratio const& ratio, Counts const& counts) {
    std::size_t rows = 0, reached = 0;
    Row const* least = nullptr;
    for (Row const& row : group.rows) {
        if (!counts(row)) continue;
        ++rows;
        reached += ratio(row) >= bar;
        if (!least || ratio(row) < ratio(*least)) least = &row;
    }
    if (!least) return;
    std::printf("  %-20s %-8s %-4s  %-58s %2zu of %2zu, least %.2f (%s): %s\n", group.kind, name(group.form.type),
                group.layout(), what, reached, rows, ratio(*least), least->name.c_str(),
                reached == rows ? "PASS" : "FALLS SHORT");
}

}  // namespace detail

/// Required figures of a GPU, one line per group and bar.
inline void print_bars(std::vector<Group> const& groups, Ceilings const& ceilings) {
    std::printf("\nbars\n");
    auto const all = [](Row const&) { return true; };
    for (Group const& group : groups) {
        if (group.kind == std::string("conv")) {
            detail::print_bar(
                group, "fused at least as fast as unfused", 1.0, [](Row const& row) { return row.measured.speedup(); },
                all);
            continue;
        }
        detail::print_bar(
            group, "0.90 of the stream bandwidth, tensors of 50 MB and more", 0.90,
            [&](Row const& row) { return row.of_floor(ceilings); },
            [](Row const& row) { return row.output_bytes >= 50e6; });
        detail::print_bar(
            group, "MIOpen's chart's factor over the two kernels", 1.0,
            [](Row const& row) { return row.measured.speedup() / row.miopen; },
            [](Row const& row) { return row.miopen > 0; });
    }
    std::printf("\n");
}

}  // namespace bench
