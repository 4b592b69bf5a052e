// SPDX-License-Identifier: MIT
#pragma once

#include <compare>

#include "fusekit/backend/hip/arch/architecture.hpp"
#include "fusekit/backend/hip/schedule/facts.hpp"
#include "fusekit/tensor/dtype.hpp"

namespace fusekit::hip {

/// Key of a measured convolution: extents, filter, x's element type, and whether x and y are channels-last.
struct TunedKey {
    DataType type;
    bool x_channels_last, y_channels_last;
    long long n, c, h, w, k;
    int r, s, top, left, bottom, right, stride_h, stride_w, dilation_h, dilation_w;
    long long groups;

    friend constexpr auto operator<=>(TunedKey const&, TunedKey const&) = default;
    FUSEKIT_H friend constexpr bool operator==(TunedKey const&, TunedKey const&) = default;
};

/// A convolution and the schedule that was measured as fastest for it.
struct TunedProblem {
    TunedKey key;
    ScheduleFacts schedule;
    int split_k = 1;  ///< split-K factor: CTAs per tile
};

/// Result of tools/tune on one GPU: a borrowed array of problems sorted by key, and for each kind of schedule the ratio
/// of measured to estimated time, 0 if not measured. device.tuned(table) is a stream whose calls use it.
struct TunedTable {
    static constexpr int kinds = 24;  ///< maximum number of kinds of schedules

    Architecture architecture;
    TunedProblem const* problems = nullptr;
    int count = 0;
    double factors[kinds] = {};

    /// Returns the problem with this key; null if no such problem was measured.
    FUSEKIT_H constexpr TunedProblem const* find(TunedKey const& key) const {
        int begin = 0, end = count;
        while (begin < end) {
            int const middle = (begin + end) / 2;
            if (problems[middle].key < key) begin = middle + 1;
            else end = middle;
        }
        return begin < count && problems[begin].key == key ? problems + begin : nullptr;
    }
    FUSEKIT_H constexpr double factor(ScheduleKind kind) const {
        double const measured = factors[static_cast<int>(kind)];
        return measured > 0 ? measured : 1;
    }
};

}  // namespace fusekit::hip
