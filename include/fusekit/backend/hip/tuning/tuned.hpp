// SPDX-License-Identifier: MIT
#pragma once

#include <compare>

#include "fusekit/backend/hip/arch/architecture.hpp"
#include "fusekit/backend/hip/schedule/list.hpp"
#include "fusekit/tensor/dtype.hpp"

namespace fusekit::hip {

/// What tells one convolution from another where its schedule was measured: the extents, the filter, x's type, and
/// whether channels are neighbours in x and y.
struct TunedKey {
    DataType type;
    bool x_channels_last, y_channels_last;
    long long n, c, h, w, k;
    int r, s, top, left, bottom, right, stride_h, stride_w, dilation_h, dilation_w;
    long long groups;

    friend constexpr auto operator<=>(TunedKey const&, TunedKey const&) = default;
    FUSEKIT_H friend constexpr bool operator==(TunedKey const&, TunedKey const&) = default;
};

/// A convolution and its fastest schedule, whose tiles so many blocks share.
struct TunedProblem {
    TunedKey key;
    ScheduleFacts schedule;
    int parts = 1;
};

/// What tools/tune found on one GPU: problems in the order of their keys, which outlive this, and how many times the
/// model's time each kind of schedule took. It is a value without hidden state: device.tuned(table) runs with it.
struct TunedTable {
    static constexpr int kinds = static_cast<int>(ScheduleKind::direct) + 1;

    Architecture architecture;
    TunedProblem const* problems = nullptr;
    int count = 0;
    double factors[kinds] = {1, 1, 1, 1, 1, 1, 1, 1};

    /// The problem with this key; null where it was not measured.
    FUSEKIT_H constexpr TunedProblem const* find(TunedKey const& key) const {
        int begin = 0, end = count;
        while (begin < end) {
            int const middle = (begin + end) / 2;
            if (problems[middle].key < key) begin = middle + 1;
            else end = middle;
        }
        return begin < count && problems[begin].key == key ? problems + begin : nullptr;
    }
    FUSEKIT_H constexpr double factor(ScheduleKind kind) const { return factors[static_cast<int>(kind)]; }
};

}  // namespace fusekit::hip
