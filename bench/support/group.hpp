// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "support/backend.hpp"
#include "support/bar_chart.hpp"
#include "support/timing.hpp"

namespace bench {

struct Row {
    std::string name;
    double miopen;
    double output_bytes;
    double work;           ///< what the rate counts: operations of a convolution, bytes of a batch norm
    double floor_seconds;  ///< the least time for operations and bytes, at the ceilings measured
    Measurement measured;

    double rate() const { return work / measured.fused_seconds * 1e-9; }
    double of_floor() const { return floor_seconds / measured.fused_seconds; }
};

/// The layers of one kind in one form, with what it takes to print them.
struct Group {
    char const *kind, *title, *file, *unit;
    double ceiling;  ///< in `unit`, as this machine was measured to reach
    Case form;
    std::vector<Row> rows = {};

    char const* layout() const { return form.channels_last ? "nhwc" : "nchw"; }

    /// Of the speedups; BarChart's row for them.
    BarChart::Row geometric_mean() const {
        std::vector<double> ours, miopen;
        for (Row const& row : rows) ours.push_back(row.measured.speedup()), miopen.push_back(row.miopen);
        return {"geometric mean", bench::geometric_mean(ours), bench::geometric_mean(miopen)};
    }
};

}  // namespace bench
