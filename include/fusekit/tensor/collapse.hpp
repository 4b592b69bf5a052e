// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/tensor/matrices.hpp"
#include "fusekit/tensor/overflow.hpp"

/// Collapses the one, two or three spatial modes of a tensor to rows and columns, so that all loops have two: a signal
/// is one row, and a volume is the rows of its slices, slice after slice. The stride between slices must be that of H
/// rows: stride[D] = H stride[H]. Packed layouts, and their slices along N, C and D, meet this condition.
namespace fusekit {

namespace detail {

/// Product of strides or of counts; 0 if it overflows.
FUSEKIT_H constexpr Extent product_or_zero(Extent a, Extent b) {
    Extent product = 0;
    return mul_overflows(a, b, product) ? 0 : product;
}
/// Product of extents; -1, which checks report as an invalid extent, if it overflows.
FUSEKIT_H constexpr Extent extent_product(Extent a, Extent b) {
    Extent product = 0;
    return mul_overflows(a, b, product) ? -1 : product;
}

/// Sets the rows of a collapsed volume to slices * slice_rows, and records the number of slices.
template <int Rank>
FUSEKIT_H constexpr void set_slices(CollapsedShape<Rank>& shape, Extent slices, Extent slice_rows) {
    shape[Rank - 2] = extent_product(slices, slice_rows);
    shape.from.count = slices == 0 && slice_rows >= 0 ? CollapsedFrom::no_slices(slice_rows) : slices;
}

/// Collapses extents with one, two or three spatial modes (To - 1, To or To + 1 modes in all) to two spatial modes. M x
/// K becomes an image 1 x K x 1 x M (tensor/matrices.hpp).
template <int To, int Rank>
FUSEKIT_H constexpr CollapsedShape<To> collapse(Index<Rank> const& extents) {
    if constexpr (To == 4 && Rank == 2) {
        return collapse_matrices(extents);
    } else {
        static_assert(Rank >= To - 1 && Rank <= To + 1);
        CollapsedShape<To> shape;
        for (int mode = 0; mode < To - 2; ++mode) shape[mode] = extents[mode];
        shape[To - 1] = extents[Rank - 1];
        if constexpr (Rank < To) {
            shape.from.kind = CollapsedFrom::signal;
            shape[To - 2] = 1;
        } else if constexpr (Rank == To) {
            shape[To - 2] = extents[To - 2];
        } else {
            shape.from.kind = CollapsedFrom::volumes;
            set_slices(shape, extents[To - 2], extents[To - 1]);
        }
        return shape;
    }
}

template <int To, int Rank>
FUSEKIT_H constexpr CollapsedLayout<To> collapse(Layout<Rank> const& layout) {
    if constexpr (Rank == To) {
        return layout;
    } else if constexpr (To == 4 && Rank == 2) {
        return collapse_matrices(layout);
    } else {
        CollapsedLayout<To> result(collapse<To>(layout.shape), {});
        for (int mode = 0; mode < To - 2; ++mode) result.stride[mode] = layout.stride[mode];
        Extent const column = result.stride[To - 1] = layout.stride[Rank - 1], row = layout.stride[Rank - 2];
        if constexpr (Rank < To) {
            result.stride[To - 2] = product_or_zero(layout.shape[Rank - 1], column);
        } else {
            Extent const depth = layout.shape[To - 2], height = layout.shape[To - 1], slice = layout.stride[To - 2];
            result.shape.from.gaps =
                depth != 1 && height != 1 && slice != product_or_zero(height, row) && !has_no_elements(layout.shape);
            result.stride[To - 2] = height == 1 ? slice : row;
        }
        return result;
    }
}

/// Collapses per-channel values given as 1 x K, 1 x K x 1 x 1 and the like to K. shape.from.count is the number of
/// values per channel, which must be 1; 0 if an extent is below 1.
template <int To, int Rank>
    requires(To == 1)
FUSEKIT_H constexpr CollapsedLayout<To> collapse(Layout<Rank> const& layout) {
    if constexpr (Rank == 1) {
        return layout;
    } else {
        CollapsedLayout<1> result(Index<1>{{layout.shape[1]}}, {{layout.stride[1]}});
        Extent& count = result.shape.from.count;
        for (int mode = 0; mode < Rank; ++mode)
            if (mode != 1) count = product_or_zero(count, layout.shape[mode] < 1 ? 0 : layout.shape[mode]);
        return result;
    }
}

template <int To, class T, int Rank>
FUSEKIT_H constexpr CollapsedView<TensorView<T, To>> collapse(TensorView<T, Rank> const& view) {
    CollapsedLayout<To> const collapsed = collapse<To>(view.layout);
    return {{view.data, collapsed.layout()}, collapsed.shape.from};
}

template <int To, int Rank>
FUSEKIT_H CollapsedView<AnyView<To>> collapse(AnyView<Rank> const& view) {
    CollapsedLayout<To> const collapsed = collapse<To>(view.layout);
    AnyView<To> result(TensorView<float const, To>(static_cast<float const*>(view.data()), collapsed.layout()));
    result.type = view.type;
    return {result, collapsed.shape.from};
}

/// User's extents of a collapsed shape: the inverse of collapse().
template <int Rank, int From>
FUSEKIT_H constexpr Index<Rank> expand(CollapsedShape<From> const& shape) {
    if constexpr (From == 4 && Rank <= 4)
        if (Rank == 2 || shape.from.kind == CollapsedFrom::matrices) return expand_matrices<Rank>(shape);
    Index<Rank> result{};
    for (int mode = 0; mode < From - 2; ++mode) result[mode] = shape[mode];
    result[Rank - 1] = shape[From - 1];
    if constexpr (Rank == From) {
        result[Rank - 2] = shape[From - 2];
    } else if constexpr (Rank > From) {
        result[Rank - 3] = shape.from.slices();
        result[Rank - 2] = shape.from.slice_rows(shape[From - 2]);
    }
    return result;
}

/// Extents C, H, W of one image of a batch.
FUSEKIT_H constexpr CollapsedShape<3> image(CollapsedShape<4> const& batch) {
    return {{{batch[1], batch[2], batch[3]}}, batch.from};
}

/// Rank of a Tensor or a view; 0 for other types.
template <class Source>
consteval int rank_of() {
    if constexpr (requires { Source::rank; }) return Source::rank;
    else if constexpr (requires(Source const& source) { source.const_view().layout; })
        return decltype(std::declval<Source const&>().const_view())::rank;
    else return 0;
}

/// A Tensor or a view whose rank is one of Ranks, and whose elements View can load.
template <class Source, class View, int... Ranks>
concept Collapsible =
    ((rank_of<Source>() == Ranks) || ...) && requires(Source const& source, Layout<View::rank> const& collapsed) {
        View(TensorView(source.const_view().data, collapsed));
    };

/// Result type of an invalid conversion to View, after its static_assert; declared only.
template <class View>
FUSEKIT_H View no_view();

template <class Source>
concept Activations = Viewable<Source, 2> || Viewable<Source, 3> || Viewable<Source, 4> || Viewable<Source, 5>;

}  // namespace detail

/// View that converts implicitly from views of any of the ranks Ranks and collapses their modes. Other types fail a
/// static_assert. Every type converts to it for overload resolution, so it is used as a field of Args only: functions
/// with such a parameter cannot be overloaded.
template <class View, int... Ranks>
struct Collapsed : detail::CollapsedView<View> {
    /// Deleted, so that code that omits the argument does not compile. A template, because nvcc 13 compiles such code
    /// if a plain default constructor is deleted.
    template <class = void>
    Collapsed() = delete;  // a field is left out or out of order: give all, in the order of Op::Args

    FUSEKIT_HD constexpr Collapsed(View const& view)
        requires((Ranks == View::rank) || ...)
        : Base(view) {}

    /// Converts from a view whose element type is known at run time only.
    template <int Rank>
        requires(std::is_same_v<View, AnyView<View::rank>> && ((Rank != View::rank && Rank == Ranks) || ...))
    FUSEKIT_H Collapsed(AnyView<Rank> const& view) : Base(detail::collapse<View::rank>(view)) {}

    /// Converts from a Tensor, which must outlive the view; a temporary Tensor does not compile.
    template <detail::Collapsible<View, Ranks...> Source>
    FUSEKIT_H constexpr Collapsed(Source const& source)
        : Base(of_view(detail::collapse<View::rank>(source.const_view()))) {}
    template <detail::Collapsible<View, Ranks...> Source>
        requires detail::Owning<Source>
    Collapsed(Source const&&) = delete;  // this temporary is gone before its view is used: give it a name

    /// Converts from {pointer, layout}.
    template <class T>
        requires std::is_constructible_v<View, T*, Layout<View::rank>>
    FUSEKIT_HD constexpr Collapsed(T* data, Layout<View::rank> const& layout) : Base(View(data, layout)) {}

    template <class Source>
        requires(!(std::is_convertible_v<Source const&, View> && ((Ranks == View::rank) || ...)) &&
                 !detail::Collapsible<Source, View, Ranks...> &&
                 !(std::is_same_v<View, AnyView<View::rank>> && (std::is_same_v<Source, AnyView<Ranks>> || ...)))
    FUSEKIT_H constexpr Collapsed(Source const&) : Base(detail::no_view<View>()) {
        constexpr int rank = detail::rank_of<Source>();
        constexpr bool is_view = rank > 0, of_rank = !is_view || ((rank == Ranks) || ...);
        constexpr bool of_float = !(detail::Viewable<Source, Ranks> || ...) && !std::is_same_v<Source, AnyView<rank>>;
        static_assert(
            is_view,
            "this argument (Source) is neither a Tensor nor a view: for a pointer write TensorView(pointer, layout)");
        static_assert(of_rank, "the number of modes of this argument (Source) is not one that its field takes (Ranks)");
        static_assert(of_float, "this argument (Source) must have elements of float");
    }

private:
    using Base = detail::CollapsedView<View>;

    template <class Given>
    FUSEKIT_H static constexpr Base of_view(detail::CollapsedView<Given> const& given) {
        return {View(static_cast<Given const&>(given)), given.from};
    }
};

/// Types of operators' fields. AnyActivations: activations with N, C and one to three spatial modes, or a matrix.
/// PixelParameters: parameters per pixel, C and one to three spatial modes. ChannelParameters: parameters per channel,
/// K or 1 x K x 1 x 1.
using AnyActivations = Collapsed<AnyView<4>, 2, 3, 4, 5>;
using PixelParameters = Collapsed<TensorView<float const, 3>, 2, 3, 4>;
using PlaceParameters [[deprecated("write PixelParameters")]] = PixelParameters;
using ChannelParameters = Collapsed<TensorView<float const, 1>, 1, 2, 3, 4, 5>;
using AnyChannelParameters = Collapsed<AnyView<1>, 1, 2, 3, 4, 5>;

}  // namespace fusekit
