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
    double miopen;  ///< speedup in MIOpen's published chart; 0 if none
    double output_bytes;
    double flops, bytes;  ///< minimum FLOPs and bytes; no FLOPs for a batch norm
    Measurement measured;

    /// GFLOP/s of a convolution, GB/s of a batch norm.
    double rate() const { return (flops > 0 ? flops : bytes) / measured.fused_seconds * 1e-9; }
    /// Minimum time over measured time.
    double of_floor(Ceilings const& of) const { return of.floor(flops, bytes) / measured.fused_seconds; }
};

/// `measured`, raised to the rate of the fastest row: no row exceeds the machine's peak.
inline Ceilings at_least(Ceilings const& measured, std::vector<Row> const& rows) {
    Ceilings ceilings = measured;
    for (Row const& row : rows)
        ceilings = larger(
            ceilings, {row.flops / row.measured.fused_seconds * 1e-9, row.bytes / row.measured.fused_seconds * 1e-9});
    return ceilings;
}

/// Layers of one kind in one form, with print settings.
struct Group {
    char const *kind, *title, *file, *unit;
    Case form;
    std::vector<Row> rows = {};

    char const* layout() const { return form.channels_last ? "nhwc" : "nchw"; }

    /// True if MIOpen has published speedups of these layers.
    bool published() const { return !rows.empty() && rows.front().miopen > 0; }

    /// Geometric mean of the speedups, as BarChart's row.
    BarChart::Row geometric_mean() const {
        std::vector<double> ours, miopen;
        for (Row const& row : rows) ours.push_back(row.measured.speedup()), miopen.push_back(row.miopen);
        return {"geometric mean", bench::geometric_mean(ours), published() ? bench::geometric_mean(miopen) : 0};
    }
};

}  // namespace bench
