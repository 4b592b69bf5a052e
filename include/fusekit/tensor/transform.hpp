// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "fusekit/error.hpp"
#include "fusekit/tensor/view.hpp"

/// Functions that return views of the same elements with other extents and strides, without a copy. Each takes a view
/// or a Tensor that outlives the result, and returns a TensorView. Modes are counted from 0: 0 is N (K of a filter), 1
/// is C, then space. Each throws Error for an argument that is invalid for the view.
namespace fusekit {

namespace detail {

template <class T>
inline constexpr bool is_view = false;
template <class T, int Rank>
inline constexpr bool is_view<TensorView<T, Rank>> = true;

/// View of a Tensor or a view, writable if the elements are not const.
template <class Source>
FUSEKIT_H constexpr auto as_view(Source&& source) {
    static_assert(is_view<std::remove_cvref_t<Source>> || std::is_lvalue_reference_v<Source>,
                  "a view of a temporary tensor would outlive the tensor: give the tensor a name");
    if constexpr (requires { source.view(); }) return source.view();
    else return source.const_view();
}

[[noreturn]] FUSEKIT_H inline void refuse_view(char const* function, char const* argument, Text const& expected,
                                               Extent given) {
    raise(Error("view", function, argument, expected, Text::number(given)));
}

template <int Rank>
FUSEKIT_H constexpr void require_mode(char const* function, Extent mode) {
    if (mode < 0 || mode >= Rank) refuse_view(function, "mode", "0 to " + Text::number(Rank - 1), mode);
}

}  // namespace detail

/// Selects `count` indices of one mode, first, first + step and so on: sliced(y, 1, 0, 32) is the first 32 channels;
/// sliced(y, 3, 1, w / 2, 2) is every second column from column 1 on. With a `count` of 0 the view has no elements.
template <class Source>
FUSEKIT_H constexpr auto sliced(Source&& source, int mode, Extent first, Extent count, Extent step = 1) {
    auto view = detail::as_view(std::forward<Source>(source));
    detail::require_mode<decltype(view)::rank>("sliced", mode);
    Extent const extent = view.layout.shape[mode];
    Extent const last = count == 0 || extent == 0 ? extent : extent - 1;
    if (first < 0 || first > last) detail::refuse_view("sliced", "first", "0 to " + Text::number(last), first);
    if (step < 1) detail::refuse_view("sliced", "step", "1 or more", step);
    Extent const most = first == extent ? 0 : (extent - first - 1) / step + 1;
    if (count < 0 || count > most) detail::refuse_view("sliced", "count", "0 to " + Text::number(most), count);
    if (count > 0 && view.layout.size() > 0) view.data += first * view.layout.stride[mode];
    view.layout.shape[mode] = count;
    view.layout.stride[mode] *= step;
    return view;
}

/// Reverses the order of the indices of one mode.
template <class Source>
FUSEKIT_H constexpr auto flipped(Source&& source, int mode) {
    auto view = detail::as_view(std::forward<Source>(source));
    detail::require_mode<decltype(view)::rank>("flipped", mode);
    if (view.layout.size() > 0) view.data += (view.layout.shape[mode] - 1) * view.layout.stride[mode];
    view.layout.stride[mode] = -view.layout.stride[mode];
    return view;
}

/// Swaps modes a and b: transposed(weights, 0, 1) of a K x C x R x S view is C x K x R x S.
template <class Source>
FUSEKIT_H constexpr auto transposed(Source&& source, int a, int b) {
    auto view = detail::as_view(std::forward<Source>(source));
    detail::require_mode<decltype(view)::rank>("transposed", a);
    detail::require_mode<decltype(view)::rank>("transposed", b);
    auto const swap = [&](auto& modes) {
        auto const value = modes[a];
        modes[a] = modes[b], modes[b] = value;
    };
    swap(view.layout.shape);
    swap(view.layout.stride);
    return view;
}

/// Expands modes of extent 1 to the given extents, with stride 0: broadcast(z, n, k, p, q) of an n x k x 1 x 1 view.
/// The result is read-only.
template <class Source, std::convertible_to<Extent>... Extents>
FUSEKIT_H constexpr auto broadcast(Source&& source, Extents... extents) {
    auto const view = detail::as_view(std::forward<Source>(source));
    constexpr int rank = std::remove_const_t<decltype(view)>::rank;
    static_assert(sizeof...(extents) == rank, "broadcast takes one extent for each mode of the view");
    TensorView<std::add_const_t<std::remove_pointer_t<decltype(view.data)>>, rank> result = view;
    Extent const wanted[] = {static_cast<Extent>(extents)...};
    for (int mode = 0; mode < rank; ++mode) {
        Extent const given = view.layout.shape[mode];
        if (given != wanted[mode] && given != 1)
            detail::refuse_view("broadcast", "extents", Text::number(given) + " in mode " + Text::number(mode),
                                wanted[mode]);
        if (given == 1) result.layout.stride[mode] = 0;
        result.layout.shape[mode] = wanted[mode];
    }
    return result;
}

/// Changes the extents and keeps the order of the elements, with the last mode fastest: reshaped(x, 1, n * g, c / g *
/// h, w) of an NCHW tensor makes every group of every image one channel. Throws Error if no strides give this order, as
/// when modes that become one are not contiguous.
template <class Source, std::convertible_to<Extent>... Extents>
FUSEKIT_H constexpr auto reshaped(Source&& source, Extents... extents) {
    auto const view = detail::as_view(std::forward<Source>(source));
    constexpr int from = std::remove_const_t<decltype(view)>::rank, to = sizeof...(extents);
    Layout<to> result{Index<to>{{static_cast<Extent>(extents)...}}, {}};
    if (result.size() != view.layout.size())
        detail::refuse_view("reshaped", "extents", "a product of " + Text::number(view.layout.size()), result.size());
    if (result.size() == 0) {
        for (Extent size = 1, mode = to - 1; mode >= 0; --mode) {
            result.stride[static_cast<int>(mode)] = size;
            if (result.shape[static_cast<int>(mode)] != 0) size *= result.shape[static_cast<int>(mode)];
        }
        return TensorView<std::remove_pointer_t<decltype(view.data)>, to>(view.data, result);
    }
    // From the last mode backwards, splits each longest run of contiguous old modes into new modes.
    int left = to - 1;
    Extent stride = 1, old_run = 1, new_run = 1;
    for (int mode = from - 1; mode >= 0; --mode) {
        if (old_run == 1) stride = view.layout.stride[mode];
        old_run *= view.layout.shape[mode];
        bool const joins = mode > 0 && (view.layout.shape[mode - 1] == 1 || old_run == 1 ||
                                        view.layout.stride[mode - 1] == old_run * stride);
        if (joins) continue;
        while (left >= 0 && (new_run < old_run || result.shape[left] == 1)) {
            result.stride[left] = new_run * stride;
            new_run *= result.shape[left--];
        }
        if (new_run != old_run)
            detail::refuse_view("reshaped", "extents",
                                "modes of elements that are evenly spaced in memory, here " + Text::number(old_run),
                                new_run);
        old_run = new_run = 1;
    }
    return TensorView<std::remove_pointer_t<decltype(view.data)>, to>(view.data, result);
}

}  // namespace fusekit
