// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/host/vector.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// Register tile of a depthwise convolution with channels along lanes: one vector of channels of depthwise_columns
/// adjacent pixels of a row of y. With the weights of a row of up to seven taps and one vector of x, the accumulators
/// fill 16 registers at most. Feature maps of 7, 14, 28, 56 and 112 columns have whole tiles.
inline constexpr int depthwise_columns = 7;

/// Maximum number of register tiles in a row of y for which the addresses of pixels are written at once.
inline constexpr int depthwise_tiles = 8;

/// Maximum number of vectors of channels that a register tile walks before the next: their accumulators are stored
/// before the epilogue reads them.
inline constexpr int depthwise_vectors = 24;

/// Pixels of x that a row of y reads: the addresses of their channel 0. Output column j reads, for tap (r, s), pixel
/// first[r * row_step + s * tap_step + j * pixel_step].
template <Element T>
struct DepthwisePixels {
    T const* const* first;
    std::int64_t row_step, tap_step, pixel_step;
    int rows, columns;  ///< rows and columns of the window
};

/// Accumulators of the pixels of a register tile for each vector of channels, converted to float. If the channels of
/// the last vector end before its last lane, they are in its last lanes, and are read as a vector that ends up to lanes
/// - 1 elements past value's end.
struct DepthwiseAccumulators {
    alignas(Vector) float value[depthwise_vectors * depthwise_columns][lanes];
    float past_end[lanes];
};

namespace detail {

/// Multiplies one pixel's vector by the weights of each tap through which an output column of the tile reads the pixel.
template <int At, int Step, class Register, int... Tap>
[[gnu::always_inline]] inline void add_pixel(Register (&sum)[depthwise_columns], Register x,
                                             Register const (&weight)[sizeof...(Tap)],
                                             std::integer_sequence<int, Tap...>) {
    constexpr auto reads = [](int tap) {
        return At >= tap && (At - tap) % Step == 0 && (At - tap) / Step < depthwise_columns;
    };
    ((reads(Tap) ? void(sum[reads(Tap) ? (At - Tap) / Step : 0] += x * weight[Tap]) : void()), ...);
}

template <int Columns, int Step, Element T, class Acc, int... Tap, int... At>
[[gnu::always_inline]] inline void depthwise_rows(AccVector<T> (&sum)[depthwise_columns], DepthwisePixels<T> const& x,
                                                  std::int64_t channel, Acc const* weights,
                                                  std::integer_sequence<int, Tap...> taps,
                                                  std::integer_sequence<int, At...>) {
    T const* const* row = x.first;
    for (int r = 0; r < x.rows; ++r, row += x.row_step, weights += Columns * lanes) {
        AccVector<T> const weight[] = {load(weights + Tap * lanes)...};
        (add_pixel<At, Step>(sum, load_widened(row[At] + channel), weight, taps), ...);
    }
}

template <Element T, class Acc, int... Column>
[[gnu::always_inline]] inline void depthwise_taps(AccVector<T> (&sum)[depthwise_columns], DepthwisePixels<T> const& x,
                                                  std::int64_t channel, Acc const* weights,
                                                  std::integer_sequence<int, Column...>) {
    T const* const* row = x.first;
    for (int r = 0; r < x.rows; ++r, row += x.row_step) {
        T const* const* pixel = row;
        for (int s = 0; s < x.columns; ++s, pixel += x.tap_step, weights += lanes) {
            AccVector<T> const weight = load(weights);
            ((sum[Column] += load_widened(pixel[Column * x.pixel_step] + channel) * weight), ...);
        }
    }
}

}  // namespace detail

/// Vectors of channels that a register tile walks: channel 0 of the first, their number, the first channel of the last
/// vector that x has, at which a vector past it is read, and their weights (vectors, rows, columns, lanes).
template <class Acc>
struct DepthwiseVectors {
    std::int64_t channel;
    int count;
    std::int64_t last;
    Acc const* weights;
};

/// Sums the taps of a register tile for each vector of channels: contiguous channels of a pixel are read one after the
/// other. With Columns > 0, windows have Columns columns, tap_step is 1 and pixel_step is Step: each vector of x is
/// loaded once per row of the window.
template <int Columns, int Step, Element T, class Acc>
[[gnu::noinline]] void depthwise_tile(DepthwiseAccumulators& result, DepthwisePixels<T> const& x,
                                      DepthwiseVectors<Acc> const& vectors) {
    DepthwisePixels<T> const window = x;
    Acc const* weights = vectors.weights;
    for (int v = 0; v < vectors.count; ++v, weights += window.rows * window.columns * lanes) {
        std::int64_t const own = vectors.channel + v * lanes, channel = own < vectors.last ? own : vectors.last;
        AccVector<T> sum[depthwise_columns] = {};
        if constexpr (Columns > 0)
            detail::depthwise_rows<Columns, Step>(
                sum, window, channel, weights, std::make_integer_sequence<int, Columns>{},
                std::make_integer_sequence<int, (depthwise_columns - 1) * Step + Columns>{});
        else
            detail::depthwise_taps(sum, window, channel, weights, std::make_integer_sequence<int, depthwise_columns>{});
        [&]<int... Column>(std::integer_sequence<int, Column...>) {
            (store(result.value[v * depthwise_columns + Column], floats(sum[Column])), ...);
        }(std::make_integer_sequence<int, depthwise_columns>{});
    }
}

/// depthwise_tile() for the columns and the step of x, or for any.
template <Element T, class Acc>
using DepthwiseTile = void (*)(DepthwiseAccumulators&, DepthwisePixels<T> const&, DepthwiseVectors<Acc> const&);

template <Element T, class Acc>
DepthwiseTile<T, Acc> depthwise_tile_for(DepthwisePixels<T> const& x) {
    if (x.tap_step == 1 && x.pixel_step == 1 && x.columns == 3) return depthwise_tile<3, 1, T, Acc>;
    if (x.tap_step == 1 && x.pixel_step == 2 && x.columns == 3) return depthwise_tile<3, 2, T, Acc>;
    if (x.tap_step == 1 && x.pixel_step == 1 && x.columns == 5) return depthwise_tile<5, 1, T, Acc>;
    if (x.tap_step == 1 && x.pixel_step == 2 && x.columns == 5) return depthwise_tile<5, 2, T, Acc>;
    if (x.tap_step == 1 && x.pixel_step == 1 && x.columns == 7) return depthwise_tile<7, 1, T, Acc>;
    return depthwise_tile<0, 0, T, Acc>;
}

/// Sums the taps of one vector of `count` channels of `pixels` pixels, for channels `stride` elements apart; pixels in
/// padding have null addresses.
template <Element T, class Acc>
[[gnu::noinline]] void depthwise_strided_row(DepthwiseAccumulators& result, DepthwisePixels<T> const& x, int pixels,
                                             std::int64_t channel, std::int64_t stride, int count, Acc const* weights) {
    for (int j = 0; j < pixels; ++j) {
        AccVector<T> sum{};
        Acc const* weight = weights;
        for (int r = 0; r < x.rows; ++r)
            for (int s = 0; s < x.columns; ++s, weight += lanes)
                if (T const* const pixel = x.first[r * x.row_step + s * x.tap_step + j * x.pixel_step])
                    sum += load_widened(pixel + channel * stride, stride, count) * load(weight);
                else sum += AccVector<T>{} * load(weight);  // an infinite weight times padding is NaN
        store(result.value[j], floats(sum));
    }
}

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
