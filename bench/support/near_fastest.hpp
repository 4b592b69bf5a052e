// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace bench {

/// Calls `once` for each of the ways to compute a problem: it returns the seconds of one call, or none if the way
/// fails. Then calls `at_length` for those that took at most `most_times_slower` times as long as the fastest. A peer's
/// slowest ways take a thousand times as long as its fastest, and many calls of one of them take a minute.
template <class Way, class Once, class AtLength>
void time_near_fastest(std::vector<Way> const& ways, double most_times_slower, Once const& once,
                       AtLength const& at_length) {
    std::vector<std::pair<double, Way const*>> timed_once;
    for (Way const& way : ways)
        if (std::optional<double> const seconds = once(way)) timed_once.emplace_back(*seconds, &way);
    if (timed_once.empty()) return;
    double least = timed_once.front().first;
    for (auto const& [seconds, way] : timed_once) least = std::min(least, seconds);
    for (auto const& [seconds, way] : timed_once)
        if (seconds <= most_times_slower * least) at_length(*way);
}

/// Calls in a graph of a subject that takes `seconds` per call: whole rotations of its buffers, two milliseconds and at
/// least 20 calls, but no more than 50 milliseconds need if 20 calls take longer.
inline std::int64_t calls_of_graph(double seconds, std::int64_t rotation) {
    auto const calls_in = [&](double duration) { return std::llround(duration / std::max(seconds, 1e-7)); };
    auto const least = std::clamp<std::int64_t>(calls_in(50e-3), 1, 20);
    auto const calls = std::clamp<std::int64_t>(calls_in(2e-3), least, 1000);
    return (calls + rotation - 1) / rotation * rotation;
}

}  // namespace bench
