// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "support/options.hpp"
#include "zoo/layer.hpp"

namespace bench {

/// A convolution for schedule measurements: "64-55-55-64-3x3-p1-s1 64 half nhwc" is a layer, a batch, an element type
/// and a layout.
struct Problem {
    zoo::Layer layer;
    int batch;
    bool is_half, channels_last;

    std::string name() const {
        return layer.name + " " + std::to_string(batch) + (is_half ? " half" : " float") +
               (channels_last ? " nhwc" : " nchw");
    }

    /// Throws UsageError for an invalid one.
    static Problem parse(std::string const& text) {
        Problem problem{};
        std::istringstream words(text);
        std::string layer, type, layout, more;
        words >> layer >> problem.batch >> type >> layout;
        std::optional<zoo::Layer> const parsed = zoo::parse_layer(layer);
        bool const right = parsed && words && !(words >> more) && problem.batch > 0;
        if (!right || (type != "half" && type != "float") || (layout != "nhwc" && layout != "nchw"))
            throw UsageError(
                "a problem is a layer, a batch, half or float, and nhwc or nchw, as in "
                "'64-55-55-64-3x3-p1-s1 64 half nhwc', got '" +
                text + "'");
        problem.layer = *parsed;
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
