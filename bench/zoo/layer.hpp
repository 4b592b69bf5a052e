// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "layers.hpp"
#include "support/options.hpp"

namespace bench::zoo {

/// A convolution of a network, without the batch: a row of layers.csv.
struct Layer {
    std::string name;
    int c, h, w, k, r, s, pad_h, pad_w, stride, dilation, groups;

    int p() const { return (h + 2 * pad_h - dilation * (r - 1) - 1) / stride + 1; }
    int q() const { return (w + 2 * pad_w - dilation * (s - 1) - 1) / stride + 1; }

    /// Elements of x, y and the weights.
    std::int64_t elements(int batch) const {
        return batch * (std::int64_t{c} * h * w + std::int64_t{k} * p() * q()) + std::int64_t{k} * (c / groups) * r * s;
    }
};

inline Layer layer_of(ConvLayer const& l) {
    return {l.name(), l.c, l.h, l.w, l.k, l.r, l.s, l.pad, l.pad, l.stride, 1, 1};
}

inline std::vector<std::string> split(std::string const& text) {
    std::vector<std::string> words;
    std::istringstream rest(text);
    for (std::string word; std::getline(rest, word, ',');) words.push_back(word);
    return words;
}

/// Distinct layers of the named networks, or of all if `networks` is "all", in the table's order. Throws UsageError for
/// a file that cannot be read, or a name that is no network of the table.
inline std::vector<Layer> read_layers(std::string const& path, std::string const& networks) {
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line)) throw UsageError("cannot read '" + path + "'");
    std::vector<std::string> const wanted = split(networks == "all" ? "" : networks);
    std::vector<bool> found(wanted.size());
    std::vector<Layer> layers;
    while (std::getline(file, line)) {
        std::vector<std::string> const cells = split(line);
        if (cells.size() != 14) throw UsageError("'" + path + "': expected 14 columns, got '" + line + "'");
        auto const at = std::find(wanted.begin(), wanted.end(), cells[0]);
        if (!wanted.empty() && at == wanted.end()) continue;
        if (at != wanted.end()) found[static_cast<std::size_t>(at - wanted.begin())] = true;
        auto const number = [&](std::size_t column) { return std::stoi(cells[column]); };
        Layer const layer{cells[1],  number(2), number(3), number(4),  number(5),  number(6),
                          number(7), number(8), number(9), number(10), number(11), number(12)};
        if (std::none_of(layers.begin(), layers.end(), [&](Layer const& each) { return each.name == layer.name; }))
            layers.push_back(layer);
    }
    for (std::size_t i = 0; i < wanted.size(); ++i)
        if (!found[i]) throw UsageError("--networks: '" + wanted[i] + "' is no network of '" + path + "'");
    return layers;
}

}  // namespace bench::zoo
