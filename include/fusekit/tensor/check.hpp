// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "fusekit/error.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit {

/// Extents as a person writes them: "8 x 64 x 14 x 14".
template <int Rank>
std::string to_string(Index<Rank> const& index) {
    std::string text;
    for (int i = 0; i < Rank; ++i) text += (i ? " x " : "") + std::to_string(index[i]);
    return text;
}

/// What an operator needs to check its arguments against, and the words to refuse them with. Nothing here runs
/// on a device; strings are made only on the way out.
class Check {
public:
    Index<4> x;     ///< input extents of the plan, N x C x H x W
    Index<4> y;     ///< output extents of the plan, N x K x P x Q
    DataType type;  ///< of x, of y and of the filters

    /// First and one past the last byte that the call writes; both null where that is not known yet.
    char const* begin = nullptr;
    char const* end = nullptr;

    std::string (*plan)();           ///< its name
    std::string (*operator_name)();  ///< whose arguments are being checked

    [[noreturn]] void fail(char const* argument, std::string expected, std::string given) const {
        throw Error(plan(), operator_name(), argument, std::move(expected), std::move(given));
    }

    template <class Number>
    void require(bool holds, char const* argument, char const* expected, Number given) const {
        if (holds) return;
        char text[32];
        std::snprintf(text, sizeof text, "%.9g", static_cast<double>(given));
        fail(argument, expected, text);
    }

    /// A view that can be read: the stated shape, a pointer, and no byte in common with the output.
    template <int Rank>
    void readable(char const* argument, void const* data, int element_bytes, Layout<Rank> const& layout,
                  Index<Rank> const& shape, char const* modes) const {
        if (layout.shape != shape) fail(argument, to_string(shape) + " (" + modes + ")", to_string(layout.shape));
        if (!data) fail(argument, "a pointer to " + to_string(shape) + " elements", "a null pointer");
        std::int64_t first = 0, last = 0;
        extent(layout, first, last);
        auto const* const base = static_cast<char const*>(data);
        if (begin && base + first * element_bytes < end && begin < base + (last + 1) * element_bytes)
            fail(argument, "memory apart from the output's", "memory that overlaps it");
    }
    template <int Rank>
    void readable(char const* argument, AnyView<Rank> const& view, Index<Rank> const& shape, char const* modes) const {
        readable(argument, view.data(), size_of(view.type), view.layout, shape, modes);
    }
    template <class T, int Rank>
    void readable(char const* argument, TensorView<T, Rank> const& view, Index<Rank> const& shape, char const* modes) const {
        readable(argument, view.data, sizeof(T), view.layout, shape, modes);
    }

    /// Lowest and highest element offset that a layout reaches.
    template <int Rank>
    static void extent(Layout<Rank> const& layout, std::int64_t& first, std::int64_t& last) {
        for (int mode = 0; mode < Rank; ++mode) {
            std::int64_t const reach = (layout.shape[mode] - 1) * layout.stride[mode];
            (reach < 0 ? first : last) += reach;
        }
    }
};

}  // namespace fusekit
