// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

/// Elements of a device's tensor, copied to the host in memory order, as floats.
std::vector<float> values(auto const& tensor) {
    using T = std::remove_cvref_t<decltype(*tensor.const_view().data)>;
    std::vector<T> elements(static_cast<std::size_t>(tensor.layout().span()));
    tensor.copy_to(elements.data());
    return std::vector<float>(elements.begin(), elements.end());
}

/// Prints the largest difference. Returns true if it is at most `tolerance` of the largest expected value and the
/// comparison is meaningful: no NaN, and at least a tenth of the values are nonzero.
inline bool agrees(char const* what, std::vector<float> const& given, std::vector<double> const& expected,
                   double tolerance = 1e-5) {
    double error = given.size() == expected.size() ? 0 : HUGE_VAL, largest = 0;
    std::size_t nonzero = 0;
    for (std::size_t i = 0; i < std::min(given.size(), expected.size()); ++i) {
        double const difference = std::abs(given[i] - expected[i]);
        if (!(difference <= error)) error = std::isnan(difference) ? HUGE_VAL : difference;
        largest = std::max(largest, std::abs(expected[i]));
        nonzero += expected[i] != 0;
    }
    bool const good = error <= tolerance * largest && 10 * nonzero >= expected.size();
    std::printf("%-58s largest difference %.1e of %.3g: %s\n", what, error, largest, good ? "ok" : "WRONG");
    return good;
}

/// Milliseconds of the fastest of `rounds` runs, after an untimed one.
double fastest_ms(int rounds, auto const& run) {
    double best = HUGE_VAL;
    for (int round = 0; round <= rounds; ++round) {
        auto const begin = std::chrono::steady_clock::now();
        run();
        std::chrono::duration<double, std::milli> const taken = std::chrono::steady_clock::now() - begin;
        if (round > 0) best = std::min(best, taken.count());
    }
    return best;
}
