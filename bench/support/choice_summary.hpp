// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdio>

namespace bench {

/// Mean and maximum of chosen over best time, and the share of predictions within a quarter.
struct ChoiceSummary {
    double sum = 0, largest = 0;
    int count = 0, within = 0;

    void add(double ratio, double prediction) {
        sum += ratio, largest = std::max(largest, ratio), ++count;
        within += prediction >= 0.75 && prediction <= 1.25;
    }
    void print(char const* of) const {
        if (count == 0) return;
        std::printf(
            "%-12s %3d: the choice takes %.3f of the best's time on average, %.3f at most; "
            "predictions within 25 %%: %d %%\n",
            of, count, sum / count, largest, 100 * within / count);
    }
};

}  // namespace bench
