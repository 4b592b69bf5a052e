// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "layers.hpp"
#include "support/options.hpp"

namespace bench {

/// A convolution for schedule measurements: "64-55-55-64-3x3-p1-s1 64 half nhwc" is a layer, a batch, an element type
/// and a layout.
struct Problem {
    ConvLayer layer;
    int batch;
    bool is_half, channels_last;

    std::string name() const {
        return layer.name() + " " + std::to_string(batch) + (is_half ? " half" : " float") +
               (channels_last ? " nhwc" : " nchw");
    }

    /// Throws UsageError for an invalid one.
    static Problem parse(std::string const& text) {
        Problem problem{};
        ConvLayer& l = problem.layer;
        std::istringstream words(text);
        std::string layer, type, layout, more;
        words >> layer >> problem.batch >> type >> layout;
        int read = 0;
        bool const right = std::sscanf(layer.c_str(), "%d-%d-%d-%d-%dx%d-p%d-s%d%n", &l.c, &l.h, &l.w, &l.k, &l.r, &l.s,
                                       &l.pad, &l.stride, &read) == 8 &&
                           static_cast<std::size_t>(read) == layer.size() && words && !(words >> more) &&
                           problem.batch > 0 && l.c > 0 && l.k > 0 && l.r > 0 && l.s > 0 && l.pad >= 0 &&
                           l.stride > 0 && l.h + 2 * l.pad >= l.r && l.w + 2 * l.pad >= l.s;
        if (!right || (type != "half" && type != "float") || (layout != "nhwc" && layout != "nchw"))
            throw UsageError(
                "a problem is a layer, a batch, half or float, and nhwc or nchw, as in "
                "'64-55-55-64-3x3-p1-s1 64 half nhwc', got '" +
                text + "'");
        problem.is_half = type == "half", problem.channels_last = layout == "nhwc";
        return problem;
    }

    static std::vector<Problem> parse_all(std::istream& lines) {
        std::vector<Problem> all;
        for (std::string line; std::getline(lines, line);)
            if (!line.empty() && line[0] != '#') all.push_back(parse(line));
        return all;
    }
};

}  // namespace bench
