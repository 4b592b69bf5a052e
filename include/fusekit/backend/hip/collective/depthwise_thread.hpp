// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/collective/prologue.hpp"
#include "fusekit/backend/hip/copy/depthwise_rows.hpp"
#include "fusekit/backend/hip/depthwise_tiles.hpp"
#include "fusekit/backend/hip/params.hpp"

/// The work of one thread of the Depthwise kernels: its outputs, the rows and columns of x that they read, and the
/// prologue of their channels.
namespace fusekit::hip {

/// Outputs of one thread in image n: rows p to p + rows - 1, the columns of a DepthwiseShape from q on, and `channels`
/// channels from k on. `exist` is false for threads past the last output.
struct DepthwiseOutputs {
    int n, k, channels, p, q, rows;
    bool exist;

    /// Returns the outputs of thread `id` of the grid. The first thread's rows begin `before` rows above y.
    template <class Shape, int before = 0>
    __device__ static DepthwiseOutputs of(DepthwiseTiles const& tiles, Index<4> const& y, unsigned id) {
        unsigned const a = tiles.inner.divide(id), b = tiles.middle.divide(a), n = tiles.outer.divide(b);
        int const inner = static_cast<int>(id - a * tiles.inner.value()),
                  middle = static_cast<int>(a - b * tiles.middle.value()),
                  outer = static_cast<int>(b - n * tiles.outer.value());
        int const channel = Shape::along_channels ? inner : outer, column = Shape::along_channels ? middle : inner,
                  row = Shape::along_channels ? outer : middle;
        int const k = channel * Shape::channels, p = row * tiles.rows - before;
        return {static_cast<int>(n),
                k,
                (min)(static_cast<int>(y[1]) - k, Shape::channels),
                p,
                column * Shape::columns,
                (min)(static_cast<int>(y[2]) - p, tiles.rows),
                id < tiles.items};
    }
};

/// The part of x that a thread reads. `data`: address of its first channel at row `row` and column `column`, where its
/// first window begins; both may be in the padding.
template <Element T>
struct DepthwiseInput {
    T const* data;
    int row, column;
    RowColumns columns;

    /// Returns the input of the outputs `to`, whose windows read `width` columns from `column` on and rows from `row`
    /// on.
    template <int width, class Tiles>
    __device__ static DepthwiseInput of(TensorView<T const> const& view, Tiles const& tiles, DepthwiseOutputs const& to,
                                        int row, int column) {
        Layout<4> const& x = view.layout;
        int const c = to.k / tiles.multiplier;
        std::int64_t const next = (to.k + 1) / tiles.multiplier - c;
        return {view.data + to.n * x.stride[0] + c * x.stride[1] + row * x.stride[2] + column * x.stride[3],
                row,
                column,
                {RowColumns::mask_of<width>(column, static_cast<int>(x.shape[3])), static_cast<int>(x.stride[3]),
                 to.channels, next * x.stride[1], tiles.x_vector}};
    }
};

/// The prologue with parameters prepared for a thread's channels of x.
template <class Plan, class Sum, int channels>
class DepthwisePrologue {
    using Prologue = typename Plan::Prologue;

public:
    template <class Params>
    __device__ DepthwisePrologue(Params const& params, DepthwiseOutputs const& of) : args(params.bound.prologue) {
#pragma unroll
        for (int c = 0; c < channels; ++c)
            states[c] =
                Prologue::prepare(std::int64_t{(of.k + (c < of.channels ? c : 0)) / params.depthwise.multiplier}, args);
    }
    /// Applies the prologue to an element of x and converts it for the FMA; 0 if not `valid`: padding is zero after the
    /// prologue.
    template <class T>
    __device__ Sum operand(T value, int channel, bool valid) const {
        if constexpr (Prologue::size == 0) return detail::widened(value);
        else
            return valid && channel >= 0 ? detail::widened(before_conv<Prologue>(value, states[channel], args))
                                         : Sum(0);
    }

private:
    typename Prologue::template State<float> states[channels];
    typename Prologue::Args const& args;
};

}  // namespace fusekit::hip
