// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/conv_case.hpp"
#include "fusekit/ops/conv.hpp"

namespace fusekit::hip::detail {

/// True if a plan's unpadded convolutions of few channels, such as patch embeddings, may be read as convolutions of
/// more channels and fewer taps, whose loads are whole packets of 16 bytes. Layouts and the filter change, memory does
/// not:
///   x'[n, s C + c, h, q] = x[n, c, h, q stride + s]: columns of a window become channels, where they are contiguous
///     (NHWC x, KRSC weights), and the filter becomes R x 1;
///   x'[n P + p, c, r, q] = x[n, c, p stride + r, q]: rows of y become images, where the vertical stride exceeds TMA's
///     limit of 8, and the stride becomes 1.
/// False for a filter that is part of the plan's type, which cannot change.
template <class Plan>
inline constexpr bool may_fold_windows =
    Plan::has_conv && !Plan::has_prologue && std::is_base_of_v<fusekit::detail::ConvArgs<dynamic>, typename Plan::Head>;

/// Operands of a convolution after folding; `folded` is false if the call does not fold, and they are as given.
template <class Plan, Element T, OutputElement U>
struct FoldedWindows {
    BoundPlan<Plan> bound;
    ImageView<T const> x;
    ImageView<U> y;
    bool folded = false;

    FUSEKIT_H explicit FoldedWindows(ConvOperands<Plan, T, U> const& from) : bound(from.bound), x(from.x), y(from.y) {
        if (!reads_unpadded_rows()) return;
        fold_columns();
        if constexpr (!Plan::Epilogue::pixelwise && !Plan::totals_tiles && !Plan::pools) fold_rows();
    }

private:
    FUSEKIT_H static bool is_packet(std::int64_t elements) { return elements * std::int64_t{sizeof(T)} % 16 == 0; }

    /// True for NHWC x and KRSC weights, of one group, whose windows are neither dilated nor padded.
    FUSEKIT_H bool reads_unpadded_rows() const {
        Filter<2> const& filter = bound.head.filter;
        Layout<4> const& w = bound.head.weights.layout;
        return filter.group_count == 1 && filter.dilations == PerMode<2>{1, 1} && filter.pad(0) == filter &&
               x.layout.stride[1] == 1 && x.layout.stride[3] == x.layout.shape[1] && w.stride[1] == 1 &&
               (w.shape[3] == 1 || w.stride[3] == w.shape[1]);
    }

    FUSEKIT_H void fold_columns() {
        Filter<2>& filter = bound.head.filter;
        std::int64_t const channels = x.layout.shape[1];
        if (filter.size.w == 1 || is_packet(channels) || !is_packet(channels * filter.size.w) ||
            !is_packet(channels * filter.strides.w))
            return;
        Layout<4>& w = bound.head.weights.layout;
        x.layout.shape[1] = w.shape[1] = channels * filter.size.w;
        x.layout.shape[3] = y.layout.shape[3];
        x.layout.stride[3] = channels * filter.strides.w;
        w.shape[3] = 1;
        filter.size.w = filter.strides.w = 1;
        folded = true;
    }

    FUSEKIT_H void fold_rows() {
        Filter<2>& filter = bound.head.filter;
        constexpr std::int64_t extent_limit = std::int64_t{1} << 30;  // of every mode (conv_limits.hpp)
        std::int64_t const images = y.layout.shape[0], rows = y.layout.shape[2];
        if (filter.strides.h <= max_im2col_stride || images * rows >= extent_limit ||
            !merges(x.layout, images, rows * filter.strides.h) || !merges(y.layout, images, rows))
            return;
        x.layout.stride[0] = filter.strides.h * x.layout.stride[2];
        y.layout.stride[0] = y.layout.stride[2];
        x.layout.shape[0] = y.layout.shape[0] = images * rows;
        x.layout.shape[2] = filter.size.h;
        y.layout.shape[2] = 1;
        filter.strides.h = 1;
        folded = true;
    }
    /// True if images are `rows` rows apart, so that image n and row p are one mode n P + p.
    FUSEKIT_H static bool merges(Layout<4> const& layout, std::int64_t images, std::int64_t rows) {
        return images == 1 || layout.stride[0] == rows * layout.stride[2];
    }
};

/// Calls f with the operands that a launch of this call computes with: folded, if the call's windows fold.
template <class Plan, Element T, OutputElement U, class F>
FUSEKIT_H auto with_folded(ConvOperands<Plan, T, U> const& operands, F const& f) {
    if constexpr (may_fold_windows<Plan>)
        if (FoldedWindows<Plan, T, U> const to(operands); to.folded)
            return f(ConvOperands<Plan, T, U>{to.bound, to.x, to.y});
    return f(operands);
}

}  // namespace fusekit::hip::detail
