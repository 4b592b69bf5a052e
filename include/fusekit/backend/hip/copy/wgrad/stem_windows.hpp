// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/stem_gradient.hpp"

namespace fusekit::hip {

/// A k-tile: its first pixel of dy, and the element of x, counted from the first one in memory, at which the first
/// row of that pixel's window begins, modulo 2^32.
template <class Params>
struct StemStep {
    int n, p, q;
    unsigned first;

    __device__ StemStep(Params const& params, Filter<2> const& filter, int number) {
        StemGradientTiles const& tiles = params.stem;
        auto const& x = params.x.layout;
        unsigned const line = tiles.by_across.divide(static_cast<unsigned>(number)), image = tiles.by_rows.divide(line);
        n = static_cast<int>(image), p = static_cast<int>(line - image * tiles.by_rows.value());
        q = (number - static_cast<int>(line * tiles.by_across.value())) * tiles.pixels;
        first = image * static_cast<unsigned>(x.stride[0]) +
                static_cast<unsigned>(p * filter.strides[0] - filter.pad_before[0]) * row_pitch(params) +
                static_cast<unsigned>((q * filter.strides[1] - filter.pad_before[1]) * static_cast<int>(x.shape[1]));
    }
    __device__ static unsigned row_pitch(Params const& params) {
        return static_cast<unsigned>(params.x.layout.stride[2]);
    }
};

/// A column of dw, and where a k-tile's elements of it are in Stage::x: those of pixel i at first + i * step. With
/// StemGradientShape::single_rows, `count` pixels from `begin` on have elements, and others read padding.
template <class Params>
struct StemColumn {
    static constexpr int ones = StemGradientShape::bytes_of_x / 2;  ///< index of a one in Stage::x
    int offset = 0, step = 0, r = 0;  ///< offset: `first` of single rows whose boxes begin at the first window
    int left = 0, right = 0;  ///< range of columns of dy whose windows are within rows of x
    bool is_weight = false;
    int first = 0, begin = 0, count = 0;

    __device__ StemColumn(Params const& params, Filter<2> const& filter, int column) {
        StemGradientTiles const& tiles = params.stem;
        is_weight = column < static_cast<int>(params.weights());
        right = static_cast<int>(params.bound.head.dy.layout.shape[3]);
        if (!is_weight && column < static_cast<int>(params.columns())) first = ones;
        if (!is_weight) return;
        int const channels = static_cast<int>(params.y.layout.shape[1]), stride = filter.strides[1];
        r = static_cast<int>(tiles.by_line.divide(static_cast<unsigned>(column)));
        int const in_line = column - r * static_cast<int>(tiles.by_line.value()),
                  pad = filter.pad_before[1] - in_line / channels,
                  past = static_cast<int>(params.x.layout.shape[3]) + pad;
        offset = r * tiles.words * 2 + in_line;
        step = stride * channels;
        first = offset + tiles.first;
        left = pad > 0 ? (pad + stride - 1) / stride : 0;
        right = (min)(right, past > 0 ? (past + stride - 1) / stride : 0);
    }
    /// Moves to a k-tile of single rows.
    __device__ void move(Params const& params, Filter<2> const& filter, StemStep<Params> const& at) {
        int const pixels = params.stem.pixels, end = (min)(right - at.q, pixels);
        begin = (max)(left - at.q, 0), count = (max)(end - begin, 0);
        if (!is_weight) return;
        int const h = at.p * filter.strides[0] - filter.pad_before[0] + r;
        if (h < 0 || h >= static_cast<int>(params.x.layout.shape[2])) count = 0;
        first = offset + static_cast<int>((at.first + static_cast<unsigned>(r) * StemStep<Params>::row_pitch(params)) &
                                          unsigned{StemGradientShape::most_shift});
    }
    /// Elements of pixels `pixel` and `pixel` + 1, zeros from pixel `end` on.
    __device__ std::uint32_t pair(std::uint16_t const* x, int pixel, int end) const {
        std::uint32_t const low = x[first + pixel * step], high = x[first + (pixel + 1) * step];
        return (pixel < end ? low : 0u) | (pixel + 1 < end ? high << 16 : 0u);
    }
    /// Elements of pixels `pixel` and `pixel` + 1 of single rows, zeros for those that read padding.
    __device__ std::uint32_t masked_pair(std::uint16_t const* x, int pixel) const {
        std::uint32_t const low = x[first + pixel * step], high = x[first + (pixel + 1) * step];
        return (has(pixel) ? low : 0u) | (has(pixel + 1) ? high << 16 : 0u);
    }

private:
    __device__ bool has(int pixel) const { return static_cast<unsigned>(pixel - begin) < static_cast<unsigned>(count); }
};

}  // namespace fusekit::hip
