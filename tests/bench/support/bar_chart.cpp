// SPDX-License-Identifier: MIT
#include "../../../bench/support/bar_chart.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using bench::BarChart;

BarChart chart_of(std::vector<double> const& measured, double published) {
    BarChart chart;
    chart.title = "Conv & bias";
    chart.axis = "time unfused / time fused";
    chart.measured = "ours";
    if (published > 0) chart.published = "theirs";
    for (double value : measured) chart.rows.push_back({"64-55-55", value, published});
    chart.summary = {"geometric mean", 1.2, published};
    return chart;
}

/// Number after `before` in `svg`, from `from` on; advances `from` past it.
double number_after(std::string const& svg, char const* before, std::size_t& from) {
    from = svg.find(before, from) + std::string(before).size();
    return std::strtod(svg.c_str() + from, nullptr);
}

TEST_CASE("No value of a bar chart is written across the line at 1.0") {
    for (double value = 0.02; value < 3; value += 0.02) {
        std::string const svg = chart_of({value, 3.0}, 0).svg();
        std::size_t at = svg.find("stroke=\"#cf222e\"");
        at = svg.rfind("<line", at);
        double const line = number_after(svg, "x1=\"", at);
        at = svg.rfind("<text", svg.find(bench::text(">%.2f</text>", value)));
        double const begin = number_after(svg, "x=\"", at);
        double const end = begin + 24;  // four characters of 11 pixels' height
        INFO("value " << value << " from " << begin << " to " << end << ", line at " << line);
        CHECK((end < line || begin > line));
    }
}

TEST_CASE("A bar chart has a text alternative") {
    std::string const svg = chart_of({1.5}, 2).svg();
    CHECK(svg.find("role=\"img\"") != svg.npos);
    CHECK(svg.find("<title>Conv &amp; bias</title>") != svg.npos);
    CHECK(svg.find("<desc>time unfused / time fused, ours: 64-55-55 1.50, geometric mean 1.20</desc>") != svg.npos);
}

TEST_CASE("A bar chart without published values has no bars and no legend of them") {
    std::string const with = chart_of({1.5}, 2).svg(), without = chart_of({1.5}, 0).svg();
    CHECK(with.find("#b5d4e0") != with.npos);
    CHECK(without.find("#b5d4e0") == without.npos);
    CHECK(without.find(">0.00<") == without.npos);
}

TEST_CASE("A bar chart's warning is red") {
    BarChart chart = chart_of({1.5}, 2);
    chart.warning = "BUSY";
    CHECK(chart.svg().find("fill=\"#cf222e\">BUSY</text>") != std::string::npos);
}

}  // namespace
