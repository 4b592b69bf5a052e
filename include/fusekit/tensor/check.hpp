// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "fusekit/error.hpp"
#include "fusekit/tensor/fold.hpp"

namespace fusekit {

namespace detail {

inline Text joined(std::int64_t const* extents, int count) {
    Text text;
    for (int i = 0; i < count; ++i) text += Text(i ? " x " : "") + Text::number(extents[i]);
    return text;
}

/// Of a folded shape, the extents that it stands for.
inline Text joined(std::int64_t const* extents, int count, int space, std::int64_t slices) {
    std::int64_t all[8];
    int used = 0;
    for (int i = 0; i < count; ++i) {
        bool const rows = i == count - 2 && space != 2;
        if (rows && space == 3) all[used++] = slices;
        if (!rows || space == 3) all[used++] = rows && slices ? extents[i] / slices : extents[i];
    }
    return joined(all, used);
}

/// "N x K x P x Q" as the names of one mode of space, "N x K x Q", or of three, "N x K x O x P x Q".
inline Text named(char const* modes, int space) {
    if (space == 2) return modes;
    std::size_t const row = std::strlen(modes) - 5;
    Text const before(modes, row);
    if (space == 1) return before + (modes + row + 4);
    return before + (modes[row] == 'H' ? "D x " : modes[row] == 'P' ? "O x " : "T x ") + (modes + row);
}

}  // namespace detail

/// Extents as a person writes them: "8 x 64 x 14 x 14".
template <int Rank>
Text to_string(Index<Rank> const& index) {
    return detail::joined(index.values, Rank);
}
template <int Rank>
Text to_string(Shape<Rank> const& shape) {
    return detail::joined(shape.values, Rank, shape.space, shape.slices < 0 ? -shape.slices : shape.slices);
}

/// What an operator needs to check its arguments against, and the words to refuse them with. Nothing here runs
/// on a device; text is made only on the way out.
class Check {
public:
    Shape<4> x;     ///< input extents of the plan, N x C x H x W
    Shape<4> y;     ///< output extents of the plan, N x K x P x Q
    DataType type;  ///< of x, of y and of the filters

    /// Addresses of the first and one past the last byte that the call writes; both 0 where that is not known yet.
    std::uintptr_t begin = 0, end = 0;

    Text (*plan)();           ///< its name
    Text (*operator_name)();  ///< whose arguments are being checked

    /// Refuses, with fail(), a pointer that `device` cannot read; null where all memory is the device's.
    void (*reachable)(void const* device, Check const& in, char const* argument, void const* data) = nullptr;
    void const* device = nullptr;

    double* bytes = nullptr;  ///< where not null, the size of each tensor that is checked is added to it

    [[noreturn]] void fail(char const* argument, Text expected, Text given) const {
        throw Error(plan(), operator_name(), argument, std::move(expected), std::move(given));
    }

    template <class Number>
    void require(bool holds, char const* argument, char const* expected, Number given) const {
        if (!holds) fail(argument, expected, Text::number(given));
    }

    /// A view that can be read: the stated shape, a pointer, and no byte in common with the output. `modes` names the
    /// extents, as in "N x K x P x Q", as if space were rows and columns.
    template <int Rank>
    void readable(char const* argument, void const* data, int element_bytes, Layout<Rank> const& layout,
                  std::type_identity_t<Shape<Rank>> const& shape, char const* modes) const {
        if (layout.shape != shape)
            refuse_shape(argument, to_string(layout.shape), layout.shape.slices < 0, to_string(shape),
                         detail::named(modes, shape.space));
        if (!data) fail(argument, "a pointer to " + to_string(shape) + " elements", "a null pointer");
        std::uintptr_t first = 0, last = 0;
        reach(argument, data, element_bytes, layout, first, last);
        if (first < end && begin < last) fail(argument, "memory apart from the output's", "memory that overlaps it");
        if (bytes) *bytes += static_cast<double>(layout.size()) * element_bytes;
    }
    template <int Rank>
    void readable(char const* argument, AnyView<Rank> const& view, std::type_identity_t<Shape<Rank>> const& shape,
                  char const* modes) const {
        if (view.type == DataType::float64 && type != DataType::float64)
            fail(argument, Text("float, half or bfloat16, as the input is ") + name(type), name(view.type));
        readable(argument, view.data(), size_of(view.type), view.layout, shape, modes);
    }
    template <class T, int Rank>
    void readable(char const* argument, TensorView<T, Rank> const& view, std::type_identity_t<Shape<Rank>> const& shape,
                  char const* modes) const {
        readable(argument, view.data, sizeof(T), view.layout, shape, modes);
    }

    /// Addresses of the first and one past the last byte of a view. Strides that lead further than any memory does
    /// are refused, before they overflow.
    template <int Rank>
    void reach(char const* argument, void const* data, int element_bytes, Layout<Rank> const& layout,
               std::uintptr_t& first, std::uintptr_t& last) const {
        constexpr std::int64_t farthest = std::int64_t{1} << 58;
        std::int64_t low = 0, high = 0;
        for (int mode = 0; mode < Rank; ++mode) {
            std::int64_t step;
            bool const fits = !__builtin_mul_overflow(layout.shape[mode] - 1, layout.stride[mode], &step);
            if (!fits || step < -farthest || step > farthest)
                fail(argument, "strides within the address space", to_string(layout.stride));
            (step < 0 ? low : high) += step;
        }
        if (reachable && data) reachable(device, *this, argument, data);
        first = reinterpret_cast<std::uintptr_t>(data) + static_cast<std::uintptr_t>(low * element_bytes);
        last = reinterpret_cast<std::uintptr_t>(data) + static_cast<std::uintptr_t>((high + 1) * element_bytes);
    }

private:
    [[noreturn]] void refuse_shape(char const* argument, Text const& given, bool gaps, Text const& expected,
                                   Text const& modes) const {
        if (gaps && given == expected)
            fail(argument, "slices that follow one another in memory as their rows do", "gaps between them");
        fail(argument, expected + " (" + modes + ")", given);
    }
};

}  // namespace fusekit
