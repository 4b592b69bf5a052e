// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "layers.hpp"
#include "support/options.hpp"

namespace bench {

/// Layers to run, in the order of the charts. First layers run only if selected by kind or by name.
struct LayerChoice {
    std::vector<ConvLayer> conv, stem;
    std::vector<NormLayer> norm;
};

namespace detail {

inline bool is_a_name(std::string_view term) {
    for (ConvLayer const& layer : conv_layers)
        if (layer.name() == term) return true;
    for (ConvLayer const& layer : stem_layers)
        if (layer.name() == term) return true;
    for (NormLayer const& layer : norm_layers)
        if (layer.name() == term) return true;
    return false;
}

/// Matches "all", the layer's kind, its name, or a part of its name that is no other layer's whole name.
inline bool matches(std::string_view term, char const* kind, std::string const& name) {
    return term == "all" || term == kind || (is_a_name(term) ? name == term : name.find(term) != name.npos);
}

}  // namespace detail

/// Layers that match one of the comma-separated terms. Throws UsageError for a term that matches none.
inline LayerChoice choose_layers(std::string_view list) {
    std::vector<std::string_view> terms;
    for (std::size_t begin = 0; begin <= list.size();) {
        std::size_t const end = std::min(list.find(',', begin), list.size());
        terms.push_back(list.substr(begin, end - begin));
        begin = end + 1;
    }
    std::vector<bool> used(terms.size());
    auto const wanted = [&](char const* kind, std::string const& name) {
        bool any = false;
        for (std::size_t i = 0; i < terms.size(); ++i)
            if (!terms[i].empty() && detail::matches(terms[i], kind, name)) used[i] = any = true;
        return any;
    };
    LayerChoice choice;
    for (ConvLayer const& layer : conv_layers)
        if (wanted("conv", layer.name())) choice.conv.push_back(layer);
    for (ConvLayer const& layer : stem_layers)
        if (wanted("stem", layer.name())) choice.stem.push_back(layer);
    for (NormLayer const& layer : norm_layers)
        if (wanted("norm", layer.name())) choice.norm.push_back(layer);

    for (std::size_t i = 0; i < terms.size(); ++i)
        if (!used[i]) {
            std::string names;
            for (ConvLayer const& layer : conv_layers) names += " " + layer.name();
            for (ConvLayer const& layer : stem_layers) names += " " + layer.name();
            for (NormLayer const& layer : norm_layers) names += " " + layer.name();
            throw UsageError("--layers: '" + std::string(terms[i]) +
                             "' is in the name of no layer; they are conv, stem, norm, all," + names);
        }
    return choice;
}

}  // namespace bench
