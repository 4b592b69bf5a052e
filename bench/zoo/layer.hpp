// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
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

/// The name that layers.csv has for a layer with these extents.
inline std::string name_of(Layer const& l) {
    std::string const pad = std::to_string(l.pad_h) + (l.pad_w == l.pad_h ? "" : "x" + std::to_string(l.pad_w));
    return bench::text("%d-%d-%d-%d-%dx%d-p%s-s%d", l.c, l.h, l.w, l.k, l.r, l.s, pad.c_str(), l.stride) +
           (l.dilation > 1 ? "-d" + std::to_string(l.dilation) : "") +
           (l.groups > 1 ? "-g" + std::to_string(l.groups) : "");
}

/// Reads a name as layers.csv has it: "64-56-56-64-3x3-p1-s1", "128-17-17-128-1x7-p0x3-s1", and at the end "-d2" and
/// "-g8" for a dilation and groups. Empty for other text and for a layer without an output.
inline std::optional<Layer> parse_layer(std::string const& name) {
    Layer l{name, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1};
    char const* rest = name.c_str();
    bool right = true;
    auto const read = [&](char const* format, int& value) {  // format: text, then %d%n
        int length = 0;
        bool const found = std::sscanf(rest, format, &value, &length) == 1;
        rest += length;
        return found;
    };
    for (auto const& [format, value] : {std::pair{"%d%n", &l.c},
                                        {"-%d%n", &l.h},
                                        {"-%d%n", &l.w},
                                        {"-%d%n", &l.k},
                                        {"-%d%n", &l.r},
                                        {"x%d%n", &l.s},
                                        {"-p%d%n", &l.pad_h}})
        right = right && read(format, *value);
    l.pad_w = l.pad_h;
    read("x%d%n", l.pad_w);
    right = right && read("-s%d%n", l.stride);
    read("-d%d%n", l.dilation);
    read("-g%d%n", l.groups);
    for (int const size : {l.c, l.h, l.w, l.k, l.r, l.s, l.stride, l.dilation, l.groups}) right = right && size > 0;
    right = right && !*rest && l.pad_h >= 0 && l.pad_w >= 0 && l.c % l.groups == 0 && l.k % l.groups == 0;
    return right && l.h + 2 * l.pad_h > l.dilation * (l.r - 1) && l.w + 2 * l.pad_w > l.dilation * (l.s - 1)
               ? std::optional(l)
               : std::nullopt;
}

inline std::vector<std::string> split(std::string const& text) {
    std::vector<std::string> words;
    std::istringstream rest(text);
    for (std::string word; std::getline(rest, word, ',');) words.push_back(word);
    return words;
}

/// Distinct layers of the named networks, or of all if `networks` is "all", in the table's order. Throws UsageError for
/// a file that cannot be read, or an unknown network.
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
        std::optional<Layer> const layer = parse_layer(cells[1]);
        if (!layer)
            throw UsageError("'" + path + "': '" + cells[1] + "' is not a layer's name, such as 64-56-56-64-3x3-p1-s1");
        if (std::none_of(layers.begin(), layers.end(), [&](Layer const& each) { return each.name == layer->name; }))
            layers.push_back(*layer);
    }
    for (std::size_t i = 0; i < wanted.size(); ++i)
        if (!found[i]) throw UsageError("--networks: '" + wanted[i] + "' is not a network of '" + path + "'");
    return layers;
}

}  // namespace bench::zoo
