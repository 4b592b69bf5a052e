// SPDX-License-Identifier: MIT
#include "../../../bench/support/near_fastest.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace {

struct Way {
    std::string name;
    double seconds;  ///< of a call; negative if the way fails
};

/// A clock that calls of a way advance, and the ways that were timed at length.
struct Timed {
    double now = 0;
    std::string at_length;

    explicit Timed(std::vector<Way> const& ways, std::int64_t rotation = 8) {
        auto const call = [&](Way const& way, std::int64_t calls) { now += way.seconds * static_cast<double>(calls); };
        auto const once = [&](Way const& way) -> std::optional<double> {
            if (way.seconds < 0) return {};
            double const begin = now;
            call(way, 1);
            return now - begin;
        };
        bench::time_near_fastest(ways, 4, once, [&](Way const& way) {
            at_length += way.name;
            for (int sample = 0; sample < 3; ++sample) call(way, bench::calls_of_graph(way.seconds, rotation));
        });
    }
};

TEST_CASE("a peer's ways that are four times slower than its fastest are called once") {
    // cuDNN's input gradients of 128-112-112-128-3x3-p1-s1 in half on an H200: 0.49 s, 407 us
    Timed const timed({{"a", 0.49}, {"b", 407e-6}, {"c", 1600e-6}, {"d", 1700e-6}, {"e", -1}});
    CHECK(timed.at_length == "bc");
    CHECK(timed.now < 0.7);
    CHECK(Timed({{"a", 1e-3}, {"b", 4e-3}}).at_length == "ab");
    CHECK(Timed({{"a", 4.1e-3}, {"b", 1e-3}}).at_length == "b");
    CHECK(Timed({{"a", -1}, {"b", -1}}).at_length == "");
    CHECK(Timed({}).at_length == "");
}

TEST_CASE("a graph has whole rotations, two milliseconds of calls, and few of a slow subject") {
    CHECK(bench::calls_of_graph(20e-6, 1) == 100);
    CHECK(bench::calls_of_graph(20e-6, 7) == 105);
    CHECK(bench::calls_of_graph(1e-6, 1) == 1000);
    CHECK(bench::calls_of_graph(0, 3) == 1002);
    CHECK(bench::calls_of_graph(1e-3, 1) == 20);
    CHECK(bench::calls_of_graph(5e-3, 1) == 10);
    CHECK(bench::calls_of_graph(0.49, 1) == 1);
    CHECK(bench::calls_of_graph(0.49, 8) == 8);
}

}  // namespace
