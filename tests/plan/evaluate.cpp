// SPDX-License-Identifier: MIT
#include "fusekit/plan/evaluate.hpp"

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;

namespace {

constexpr auto digits = fk::literal<fk::nchw(1, 1, 3, 3)>(1, 2, 3,  //
                                                          4, 5, 6,  //
                                                          7, 8, 9);
constexpr auto ones = fk::literal<fk::kcrs(1, 1, 3, 3)>(1, 1, 1, 1, 1, 1, 1, 1, 1);
constexpr auto minus_thirty = fk::literal<fk::channels(1)>(-30);

/// Sums over 3 x 3 windows, minus 30, clipped at 0.
using Sum = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Activation<fk::Relu>>;
static_assert(Sum::evaluate(digits, {.weights = ones}, {.bias = minus_thirty}, {}) ==
              fk::literal<fk::nchw(1, 1, 3, 3)>(0, 0, 0,  //
                                                0, 15, 3,  //
                                                0, 9, 0));
static_assert(!(Sum::evaluate(digits, {.weights = ones}, {.bias = minus_thirty}, {}) ==
                fk::literal<fk::nchw(1, 1, 3, 3)>(0, 0, 0, 0, 15, 3, 0, 9, 1)));
static_assert(!(Sum::evaluate(digits, {.weights = ones}, {.bias = minus_thirty}, {}) ==
                fk::literal<fk::nchw(1, 1, 1, 9)>(0, 0, 0, 0, 15, 3, 0, 9, 0)));

/// Run-time geometry: stride 2 in both modes, one column of padding on the left.
using Dynamic = fk::Plan<fk::Conv<fk::dynamic>>;
constexpr auto pair = fk::literal<fk::kcrs(1, 1, 1, 2)>(10, 1);
static_assert(Dynamic::evaluate(digits, {.weights = pair, .filter = fk::filter(1, 2).pad(0, 1, 0, 0).stride(2)}) ==
              fk::literal<fk::nchw(1, 1, 2, 2)>(1, 23, 7, 89));
static_assert(Dynamic::evaluate(digits, {.weights = pair, .filter = fk::filter(1, 2).dilation(2)}) ==
              fk::literal<fk::nchw(1, 1, 3, 1)>(13, 46, 79));

/// Channels-last, two groups that do not mix. The result is channels-last too.
constexpr auto four = fk::literal<fk::nhwc(1, 1, 2, 4)>(1, 2, 3, 4,  //
                                                        5, 6, 7, 8);
constexpr auto grouped = fk::literal<fk::krsc(2, 1, 1, 2)>(1, 10,  //
                                                           100, 1000);
using Grouped = fk::Plan<fk::Conv<fk::filter(1, 1).groups(2)>>;
static_assert(Grouped::evaluate(four, {.weights = grouped}) == fk::literal<fk::nhwc(1, 1, 2, 2)>(21, 4300, 65, 8700));

/// Depthwise: one factor per channel.
constexpr auto factors = fk::literal<fk::kcrs(4, 1, 1, 1)>(1, -1, 2, 0);
using Depthwise = fk::Plan<fk::Conv<fk::filter(1, 1).groups(4)>, fk::Activation<fk::LeakyRelu>>;
static_assert(Depthwise::evaluate(four, {.weights = factors}, {.alpha = 0.5f}) ==
              fk::literal<fk::nhwc(1, 1, 2, 4)>(1, -1, 6, 0, 5, -3, 14, 0));

/// Signals: differences of adjacent elements. Volumes: sums over 2 x 1 x 2 windows, one slice of padding at the back.
constexpr auto signal = fk::literal<fk::ncw(1, 1, 4)>(1, 4, 2, 9);
constexpr auto difference = fk::literal<fk::kcs(1, 1, 2)>(-1, 1);
using Difference = fk::Plan<fk::Conv<fk::filter(2).pad(1, 0)>>;
static_assert(Difference::evaluate(signal, {.weights = difference}) == fk::literal<fk::ncw(1, 1, 4)>(1, 3, -2, 7));
constexpr auto volume = fk::literal<fk::ncdhw(1, 1, 2, 2, 2)>(1, 2, 3, 4,  //
                                                              5, 6, 7, 8);
constexpr auto window = fk::literal<fk::kctrs(1, 1, 2, 1, 2)>(1, 1, 1, 1);
using Windows = fk::Plan<fk::Conv<fk::filter(2, 1, 2).pad(0, 0, 0, 1, 0, 0)>, fk::Residual>;
constexpr auto columns = fk::literal<fk::ncdhw(1, 1, 2, 2, 1)>(100, 200, 300, 400);
static_assert(Windows::evaluate(volume, {.weights = window}, {.z = columns}) ==
              fk::literal<fk::ncdhw(1, 1, 2, 2, 1)>(114, 222, 311, 415));
static_assert(!(Windows::evaluate(volume, {.weights = window}, {.z = columns}) ==
                fk::literal<fk::nchw(1, 1, 4, 1)>(114, 222, 311, 415)));
static_assert(fk::Plan<fk::Scale>::evaluate(volume, {.factor = 2}) ==
              fk::literal<fk::ncdhw(1, 1, 2, 2, 2)>(2, 4, 6, 8, 10, 12, 14, 16));

/// Matrix products: row-major and column-major; batched, with a residual; after a prologue.
using FullyConnected = fk::Plan<fk::Gemm, fk::Bias, fk::Activation<fk::Relu>>;
constexpr auto rows = fk::literal<fk::row_major(2, 3)>(1, 2, 3,  //
                                                       4, 5, 6);
constexpr auto by_columns = fk::literal<fk::column_major(2, 3)>(1, 4,  //
                                                                2, 5,  //
                                                                3, 6);
constexpr auto matrix = fk::literal<fk::row_major(2, 3)>(1, 0, -1,  //
                                                         1, 1, 1);
constexpr auto offsets = fk::literal<fk::channels(2)>(1, 10);
static_assert(FullyConnected::evaluate(rows, {.weights = matrix}, {.bias = offsets}, {}) ==
              fk::literal<fk::row_major(2, 2)>(0, 16,  //
                                               0, 25));
static_assert(!(FullyConnected::evaluate(rows, {.weights = matrix}, {.bias = offsets}, {}) ==
                fk::literal<fk::row_major(2, 2)>(0, 16, 0, 26)) &&
              !(FullyConnected::evaluate(rows, {.weights = matrix}, {.bias = offsets}, {}) ==
                fk::literal<fk::row_major(1, 2, 2)>(0, 16, 0, 25)));
static_assert(FullyConnected::evaluate(by_columns, {.weights = matrix}, {.bias = offsets}, {}) ==
              fk::literal<fk::column_major(2, 2)>(0, 0,  //
                                                  16, 25));
constexpr auto batch = fk::literal<fk::row_major(2, 1, 3)>(1, 2, 3,  //
                                                           4, 5, 6);
constexpr auto hundreds = fk::literal<fk::row_major(2, 1, 2)>(100, 200,  //
                                                              300, 400);
static_assert(fk::Plan<fk::Gemm, fk::Residual>::evaluate(batch, {.weights = matrix}, {.z = hundreds}) ==
              fk::literal<fk::row_major(2, 1, 2)>(98, 206,  //
                                                  298, 415));
constexpr auto thirds = fk::literal<fk::channels(3)>(0, -1, 0);
static_assert(fk::Plan<fk::Bias, fk::Gemm>::evaluate(rows, {.bias = thirds}, {.weights = matrix}) ==
              fk::literal<fk::row_major(2, 2)>(-2, 5,  //
                                               -2, 14));

/// (x - mean) * scale / sqrt(variance + epsilon) + shift, then max(0, .)
constexpr auto mean = fk::literal<fk::channels(4)>(1, 0, 2, 10),
               variance = fk::literal<fk::channels(4)>(0.75f, 3.75f, 15.75f, 0.75f);
constexpr auto scale = fk::literal<fk::channels(4)>(1, 2, -4, 1), shift = fk::literal<fk::channels(4)>(0, 1, 8, 0);
using Normalized = fk::Plan<fk::BatchNormInference<fk::Spatial>, fk::Activation<fk::Relu>>;
static_assert(Normalized::evaluate(four, {mean, variance, scale, shift, 0.25f}, {}) ==
              fk::literal<fk::nhwc(1, 1, 2, 4)>(0, 3, 7, 0, 4, 7, 3, 0));

/// Per-pixel statistics, a K x P x Q = 2 x 1 x 2 map.
constexpr auto map = fk::literal<fk::nchw(2, 2, 1, 2)>(1, 2, 3, 4,  //
                                                       5, 6, 7, 8);
constexpr auto map_mean = fk::literal<fk::chw(2, 1, 2)>(1, 0, 2, 10),
               map_variance = fk::literal<fk::chw(2, 1, 2)>(0.75f, 3.75f, 15.75f, 0.75f);
constexpr auto map_scale = fk::literal<fk::chw(2, 1, 2)>(1, 2, -4, 1),
               map_shift = fk::literal<fk::chw(2, 1, 2)>(0, 1, 8, 0);
using PerActivation = fk::Plan<fk::BatchNormInference<fk::PerActivation>>;
static_assert(PerActivation::evaluate(map, {map_mean, map_variance, map_scale, map_shift, 0.25f}) ==
              fk::literal<fk::nchw(2, 2, 1, 2)>(0, 3, 7, -6, 4, 7, 3, -2));

/// The residual's position decides whether it is added before or after the activation.
constexpr auto z = fk::literal<fk::nchw(2, 2, 1, 2)>(-2, 0, 0, -10,  //
                                                     1, -8, 0, 2);
using Before = fk::Plan<fk::Residual, fk::Activation<fk::Relu>>;
using After = fk::Plan<fk::Activation<fk::Relu>, fk::Residual>;
static_assert(Before::evaluate(map, {.z = z}, {}) == fk::literal<fk::nchw(2, 2, 1, 2)>(0, 2, 3, 0, 6, 0, 7, 10));
static_assert(After::evaluate(map, {}, {.z = z, .alpha2 = 2}) ==
              fk::literal<fk::nchw(2, 2, 1, 2)>(-3, 2, 3, -16, 7, -10, 7, 12));

/// Operators run in plan order.
using ScaleFirst = fk::Plan<fk::Scale, fk::Bias, fk::Scale>;
constexpr auto two_biases = fk::literal<fk::channels(2)>(1, -1);
static_assert(ScaleFirst::evaluate(map, {.factor = 2}, {.bias = two_biases}, {.factor = 10}) ==
              fk::literal<fk::nchw(2, 2, 1, 2)>(30, 50, 50, 70, 110, 130, 130, 150));

/// A user's operator that reads the coordinate: y = x + 10 n + 100 q.
struct Coordinate {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    static constexpr float apply(float x, fk::OutputCoord at, Args const&) {
        return x + 10 * static_cast<float>(at.n) + 100 * static_cast<float>(at.q);
    }
};
static_assert(fk::Plan<Coordinate>::evaluate(map, {}) ==
              fk::literal<fk::nchw(2, 2, 1, 2)>(1, 102, 3, 104, 15, 116, 17, 118));

}  // namespace
