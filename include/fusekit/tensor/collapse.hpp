// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/matrices.hpp"
#include "fusekit/tensor/view.hpp"

/// Space of one, two or three modes as rows and columns, so that everything that loops knows two: a signal is one row;
/// the rows of a volume are those of its slices, one slice after another. That needs slices that follow one another in
/// memory as rows do, stride[D] = H stride[H]: all packed layouts, and any slice of one along N, C and D.
namespace fusekit {

/// A product of extents; 0, which is refused as an extent, where it overflows.
constexpr Extent product_or_zero(Extent a, Extent b) {
    Extent product = 0;
    return __builtin_mul_overflow(a, b, &product) ? 0 : product;
}

/// Extents of To - 1, To or To + 1 modes with two modes of space; of M x K, those of an image.
template <int To, int Rank>
constexpr Shape<To> collapse(Index<Rank> const& extents) {
    if constexpr (To == 4 && Rank == 2) {
        return collapse_matrices(extents);
    } else {
        static_assert(Rank >= To - 1 && Rank <= To + 1);
        Shape<To> shape{};
        for (int mode = 0; mode < To - 2; ++mode) shape[mode] = extents[mode];
        shape[To - 1] = extents[Rank - 1];
        shape.space = Rank - To + 2;
        if constexpr (Rank < To) shape[To - 2] = 1;
        else if constexpr (Rank == To) shape[To - 2] = extents[To - 2];
        else shape[To - 2] = product_or_zero(shape.slices = extents[To - 2], extents[To - 1]);
        return shape;
    }
}

template <int To, int Rank>
constexpr Layout<To> collapse(Layout<Rank> const& layout) {
    if constexpr (Rank == To) {
        return layout;
    } else if constexpr (To == 4 && Rank == 2) {
        return collapse_matrices(layout);
    } else {
        Layout<To> result{collapse<To>(static_cast<Index<Rank> const&>(layout.shape)), {}};
        for (int mode = 0; mode < To - 2; ++mode) result.stride[mode] = layout.stride[mode];
        Extent const column = result.stride[To - 1] = layout.stride[Rank - 1], row = layout.stride[Rank - 2];
        if constexpr (Rank < To) {
            result.stride[To - 2] = product_or_zero(layout.shape[Rank - 1], column);
        } else {
            Extent const depth = layout.shape[To - 2], height = layout.shape[To - 1], slice = layout.stride[To - 2];
            bool const gaps = depth != 1 && height != 1 && slice != product_or_zero(height, row);
            if (gaps) result.shape.slices = -depth;
            result.stride[To - 2] = height == 1 ? slice : row;
        }
        return result;
    }
}

/// K values, one a channel, of 1 x K, 1 x K x 1 x 1 and the like. `slices` becomes how many values a channel has; 0
/// where an extent is no extent.
template <int To, int Rank>
    requires(To == 1)
constexpr Layout<To> collapse(Layout<Rank> const& layout) {
    if constexpr (Rank == 1) {
        return layout;
    } else {
        Layout<1> result{{{{layout.shape[1]}}}, {{layout.stride[1]}}};
        for (int mode = 0; mode < Rank; ++mode)
            if (mode != 1)
                result.shape.slices =
                    product_or_zero(result.shape.slices, layout.shape[mode] < 1 ? 0 : layout.shape[mode]);
        return result;
    }
}

template <int To, class T, int Rank>
constexpr TensorView<T, To> collapse(TensorView<T, Rank> const& view) {
    return {view.data, collapse<To>(view.layout)};
}

template <int To, int Rank>
AnyView<To> collapse(AnyView<Rank> const& view) {
    AnyView<To> collapsed(
        TensorView<float const, To>(static_cast<float const*>(view.data()), collapse<To>(view.layout)));
    collapsed.type = view.type;
    return collapsed;
}

/// The extents that collapse() was given.
template <int Rank, int From>
constexpr Index<Rank> expand(Shape<From> const& shape) {
    if constexpr (From == 4 && Rank <= 4)
        if (Rank == 2 || shape.space == 0) return expand_matrices<Rank>(shape);
    Index<Rank> result{};
    for (int mode = 0; mode < From - 2; ++mode) result[mode] = shape[mode];
    result[Rank - 1] = shape[From - 1];
    if constexpr (Rank == From) {
        result[Rank - 2] = shape[From - 2];
    } else if constexpr (Rank > From) {
        result[Rank - 3] = shape.slices;
        result[Rank - 2] = shape.slices == 0 ? 0 : shape[From - 2] / shape.slices;
    }
    return result;
}

/// The extents of one image of a batch.
constexpr Shape<3> image(Shape<4> const& batch) {
    Shape<3> one(Index<3>{{batch[1], batch[2], batch[3]}});
    one.space = batch.space;
    one.slices = batch.slices;
    return one;
}

/// A filter of one mode as the filter of one row that computes the same; any other as it is.
constexpr Filter<2> with_rows(Filter<1> const& f) {
    return {{1, f.size.w},    {0, f.pad_before.w}, {0, f.pad_after.w},
            {1, f.strides.w}, {1, f.dilations.w},  f.group_count};
}
template <int Rank>
constexpr Filter<Rank> with_rows(Filter<Rank> const& f) {
    return f;
}

/// The rows of a filter's window, those of all its slices, and its columns.
template <int Rank>
FUSEKIT_HD constexpr int window_rows(Filter<Rank> const& f) {
    return Rank == 3 ? f.size[0] * f.size[1] : f.size[0];
}
template <int Rank>
FUSEKIT_HD constexpr int window_columns(Filter<Rank> const& f) {
    return f.size[Rank - 1];
}

/// The rows of a slice of x and of y; nothing where there are no slices.
template <int Space>
struct SliceHeights {
    constexpr SliceHeights(Shape<4> const&, Shape<4> const&) {}
};
template <>
struct SliceHeights<3> {
    Extent x, y;

    constexpr SliceHeights(Shape<4> const& the_x, Shape<4> const& the_y)
        : x(the_x[2] / the_x.slices), y(the_y[2] / the_y.slices) {}
};

/// The row of x under row r of the window of row p of y; outside x's rows where that is padding.
constexpr Extent row_under(Filter<2> const& f, SliceHeights<2> const&, Extent p, int r) {
    return p * f.strides[0] - f.pad_before[0] + Extent{r} * f.dilations[0];
}
constexpr Extent row_under(Filter<3> const& f, SliceHeights<3> const& height, Extent p, int r) {
    Extent const slice = p / height.y, t = r / f.size[1];
    Extent const d = slice * f.strides[0] - f.pad_before[0] + t * f.dilations[0];
    Extent const h = (p - slice * height.y) * f.strides[1] - f.pad_before[1] + (r - t * f.size[1]) * f.dilations[1];
    return h >= 0 && h < height.x ? d * height.x + h : -1;
}

/// The column of x under column s of the window of column q of y; outside x's columns where that is padding.
template <int Rank>
constexpr Extent column_under(Filter<Rank> const& f, Extent q, int s) {
    return q * f.strides[Rank - 1] - f.pad_before[Rank - 1] + Extent{s} * f.dilations[Rank - 1];
}

namespace detail {

/// The number of modes of a Tensor or a view; 0 of anything else.
template <class Source>
consteval int rank_of() {
    if constexpr (requires { Source::rank; }) return Source::rank;
    else if constexpr (requires(Source const& source) { source.const_view().layout; })
        return decltype(std::declval<Source const&>().const_view())::rank;
    else return 0;
}

/// A Tensor or a view of one of the ranks, of elements that View reads.
template <class Source, class View, int... Ranks>
concept Collapsible =
    ((rank_of<Source>() == Ranks) || ...) && requires(Source const& source, Layout<View::rank> const& collapsed) {
        View(TensorView(source.const_view().data, collapsed));
    };

/// Nothing: what follows a refusal.
template <class View>
View no_view();

template <class Source>
concept Activations = Viewable<Source, 2> || Viewable<Source, 3> || Viewable<Source, 4> || Viewable<Source, 5>;

}  // namespace detail

/// A view, made of views of any of the ranks: they are collapsed. What it cannot be made of is refused in words, and so
/// it is one of Args alone: functions that take one cannot be overloaded.
template <class View, int... Ranks>
struct Collapsed : View {
    /// A template, because nvcc 13 lets a field be left out whose type has deleted none but a plain one.
    template <class = void>
    Collapsed() = delete;  // a field is left out or out of order: give all, in the order of Op::Args

    FUSEKIT_HD constexpr Collapsed(View const& view)
        requires((Ranks == View::rank) || ...)
        : View(view) {}

    /// From a view whose element type is known at run time only.
    template <int Rank>
        requires(std::is_same_v<View, AnyView<View::rank>> && ((Rank != View::rank && Rank == Ranks) || ...))
    Collapsed(AnyView<Rank> const& view) : View(collapse<View::rank>(view)) {}

    /// From a Tensor, which outlives the view: a temporary one is refused.
    template <detail::Collapsible<View, Ranks...> Source>
    constexpr Collapsed(Source const& source) : View(collapse<View::rank>(source.const_view())) {}
    template <detail::Collapsible<View, Ranks...> Source>
        requires detail::Owning<Source>
    Collapsed(Source const&&) = delete;  // this temporary is gone before its view is used: give it a name

    /// From a pointer, in braces.
    template <class T>
        requires std::is_constructible_v<View, T*, Layout<View::rank>>
    FUSEKIT_HD constexpr Collapsed(T* data, Layout<View::rank> const& layout) : View(data, layout) {}

    template <class Source>
        requires(!std::is_convertible_v<Source const&, View> && !detail::Collapsible<Source, View, Ranks...> &&
                 !(std::is_same_v<View, AnyView<View::rank>> && (std::is_same_v<Source, AnyView<Ranks>> || ...)))
    constexpr Collapsed(Source const&) : View(detail::no_view<View>()) {
        constexpr int rank = detail::rank_of<Source>();
        constexpr bool is_view = rank > 0, of_rank = !is_view || ((rank == Ranks) || ...);
        constexpr bool of_float = !(detail::Viewable<Source, Ranks> || ...) && !std::is_same_v<Source, AnyView<rank>>;
        static_assert(is_view,
                      "this argument (Source) is no Tensor and no view: of a pointer, TensorView(pointer, layout)");
        static_assert(of_rank, "this argument (Source) has another number of modes than its field takes (Ranks)");
        static_assert(of_float, "this argument (Source) is of other elements than float, which its field takes alone");
    }
};

/// Activations of any rank, N x C and one to three modes of space, or a matrix; parameters of every place of them, and
/// of every channel, K or 1 x K x 1 x 1.
using AnyActivations = Collapsed<AnyView<4>, 2, 3, 4, 5>;
using PlaceParameters = Collapsed<TensorView<float const, 3>, 2, 3, 4>;
using ChannelParameters = Collapsed<TensorView<float const, 1>, 1, 2, 3, 4, 5>;
using AnyChannelParameters = Collapsed<AnyView<1>, 1, 2, 3, 4, 5>;

}  // namespace fusekit
