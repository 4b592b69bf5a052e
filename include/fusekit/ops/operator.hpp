// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "fusekit/ops/operator/raise.hpp"
#include "fusekit/tensor/check.hpp"
#include "fusekit/tensor/required.hpp"

namespace fusekit {

/// Kind of an operator, which the ordering rules test (plan/sequence.hpp).
enum class Stage { mainloop, bias, normalization, activation, pointwise, pooling };

/// Coordinate (n, k, p, q) of one output element, and of the input element that a pointwise plan reads for it. For a
/// volume p counts the rows of all slices: it is that of N x K x (O P) x Q; for a signal p is 0. For matrices n, q and
/// k are the batch, the row and the column; p is 0, or the index along a second batch mode.
struct OutputCoord {
    std::int64_t n, k, p, q;

    /// Loads the element of `view` at this coordinate; a rank-3 view (K x P x Q) is broadcast over n, a rank-1 view (K)
    /// over n, p, q.
    FUSEKIT_HD constexpr float load(AnyView<4> const& view) const {
        return view.load(view.layout.offset({{n, k, p, q}}));
    }
    FUSEKIT_HD constexpr float load(TensorView<float const, 3> const& view) const { return view(k, p, q); }
    FUSEKIT_HD constexpr float load(AnyView<1> const& view) const { return view.load(k * view.layout.stride[0]); }

    /// Stores to the element of `view` at this coordinate.
    FUSEKIT_HD constexpr void store(AnyOutput const& view, float value) const {
        view.store(view.layout.offset({{n, k, p, q}}), value);
    }

    /// Raises *maximum, the maximum of the plan's Amax operator number `number`, to at least |value|.
    template <int number>
    FUSEKIT_H constexpr void raise(float* maximum, float value) const {
        detail::raise_to(maximum, detail::magnitude_bits(value));
    }
};

/// OutputCoord for operators that compute in double: elements are not rounded to float.
struct DoubleCoord : OutputCoord {
    FUSEKIT_H constexpr double load(AnyView<4> const& view) const {
        return view.load<double>(view.layout.offset({{n, k, p, q}}));
    }
    FUSEKIT_H constexpr double load(TensorView<float const, 3> const& view) const {
        return static_cast<double>(view(k, p, q));
    }
    FUSEKIT_H constexpr double load(AnyView<1> const& view) const {
        return view.load<double>(k * view.layout.stride[0]);
    }
    FUSEKIT_H constexpr void store(AnyOutput const& view, double value) const {
        view.store(view.layout.offset({{n, k, p, q}}), value);
    }
    template <int number>
    FUSEKIT_H constexpr void raise(float* maximum, double value) const {
        OutputCoord::raise<number>(maximum, static_cast<float>(value));
    }
};

/// An operator is a struct with a stage, an aggregate of run-time arguments, and one of the forms below. It maps one
/// value to one value. Softmax, layer norm, argmax and top-k need a whole row, or all channels of a pixel: they are not
/// operators of a plan. Run them between two plans.
///
/// An operator may also have:
///   static void check(Args const& args, Check const& in), which refuses arguments that do not fit (tensor/check.hpp:
///     in.readable, in.writable, in.require, in.fail). A view that apply reads through at.load alone may be checked
///     with Access::read_in_place: then it may be y. Without a check, every view in Args is checked against y by rank:
///     K values, K x P x Q, or N x K x P x Q, disjoint from y in memory; a mode of extent 1 and stride 0 is broadcast
///     (plan/check_args.hpp). An operator that reads a view differently, as a table, needs a check, which may be
///     empty. Raw pointers cannot be checked.
///   static constexpr void views(Args& args, auto const& f), which calls f with each view of activations in Args: after
///     a Gemm, a view of B x M x N holds matrices; elsewhere it holds signals.
///   static constexpr char const* equation: describe(...) prints it, as in "y = min(max(x, low), high)".
///   static constexpr int flops_per_element: describe(...) counts them; default 1. If the count depends on more,
///     static constexpr double flops(Index<4> const& y, Args const& args) returns that of all N x K x P x Q elements.
///   static constexpr int gradient_flops_per_element: the count that the operator adds to a Backward plan.
///   static Text name(): messages print it instead of the type's name.
template <class Op>
concept HasStageAndArgs = requires {
    { Op::stage } -> std::convertible_to<Stage>;
    typename Op::Args;
} && std::is_trivially_copyable_v<typename Op::Args>;

/// apply(x, args): the same function for every element. If the type of `x` is a template parameter V, V may be a CPU
/// vector, or double.
template <class Op, class V = float>
concept Uniform = requires(V x, typename Op::Args const& args) {
    { Op::apply(x, args) } -> std::same_as<V>;
};

/// apply(x, at, args): a function of the coordinate too. `at` is an OutputCoord or, if its type is a template
/// parameter, any type with OutputCoord's load(view) and store(view, x). May be called twice for one coordinate, and is
/// never called for one that no pool window covers.
template <class Op, class V = float, class At = OutputCoord>
concept Located = requires(V x, At const& at, typename Op::Args const& args) {
    { Op::apply(x, at, args) } -> std::same_as<V>;
};

/// prepare(k, args), called once per channel, returns a Prepared<float> that consists of floats; apply(x, prepared) is
/// called for every element of the channel. Plans on double use prepare<double> if it exists.
template <class Op, class V = float>
concept Channelwise =
    requires(V x, std::int64_t k, typename Op::Args const& args, typename Op::template Prepared<V> prepared) {
        { Op::prepare(k, args) } -> std::same_as<typename Op::template Prepared<float>>;
        { Op::apply(x, prepared) } -> std::same_as<V>;
    };

/// Has parameters per pixel, K x P x Q, broadcast over the batch: prepare(at, args), where the type of `at` is a
/// template parameter with load(view), returns a Prepared of the type that load returns; apply(x, prepared) is called
/// for this pixel in every image.
template <class Op, class V = float, class At = OutputCoord>
concept Placewise =
    requires(V x, At const& at, typename Op::Args const& args, typename Op::template Prepared<V> prepared) {
        { Op::prepare(at, args) } -> std::same_as<typename Op::template Prepared<V>>;
        { Op::apply(x, prepared) } -> std::same_as<V>;
    };

/// Passes the value through and stores stored(x) to output(args), activations of y's shape, at every coordinate. A
/// backend may store a vector of adjacent elements at once.
template <class Op>
concept Storing = requires(float x, typename Op::Args const& args) {
    { Op::output(args) } -> std::same_as<AnyOutput const&>;
    { Op::stored(x) } -> std::same_as<float>;
};

/// Passes the value through and raises maximum(args) to the largest magnitude of all values.
template <class Op>
concept MaximumOp = requires(typename Op::Args const& args) {
    { Op::maximum(args) } -> std::same_as<float*>;
};

/// Has slope(x, ...), the derivative of apply(x, ...) with respect to x, with apply's arguments.
template <class Op, class V = float, class At = OutputCoord>
concept Differentiable =
    (Uniform<Op, V> && requires(V x, typename Op::Args const& args) {
        { Op::slope(x, args) } -> std::same_as<V>;
    }) || (Located<Op, V, At> && requires(V x, At const& at, typename Op::Args const& args) {
        { Op::slope(x, at, args) } -> std::same_as<V>;
    }) || ((Channelwise<Op, V> || Placewise<Op, V, At>) && requires(V x, typename Op::template Prepared<V> prepared) {
        { Op::slope(x, prepared) } -> std::same_as<V>;
    });

/// Maps one element of the accumulator at a time: may follow the head of a Plan.
template <class Op>
concept EpilogueOp = HasStageAndArgs<Op> && (Uniform<Op> || Located<Op> || Channelwise<Op> || Placewise<Op>);

/// Reduces a window of the input to the accumulator.
template <class Op>
concept MainloopOp = HasStageAndArgs<Op> && Op::stage == Stage::mainloop &&
                     requires(CollapsedShape<4> x, typename Op::Args const& args) {
                         { Op::output(x, args) } -> std::same_as<CollapsedShape<4>>;
                     };

namespace detail {

/// With int8 (int32 accumulators), refuses more products per output than the accumulator holds, and a count that
/// overflowed to -1. `given()` prints the count.
template <class Given>
FUSEKIT_H void check_products(std::int64_t products, Check const& in, Given const& given) {
    constexpr std::int64_t most = 131071;  // 131071 * 128 * 128 < 2^31
    if (in.type == DataType::int8 && (products < 0 || products > most))
        in.fail("weights", "at most 131071 products an output, whose sum fits 32 bits", given());
}

}  // namespace detail

/// A MainloopOp on matrices. Other operators see rows as pixels and columns as channels (tensor/matrices.hpp).
template <class Op>
concept MatrixOp = MainloopOp<Op> && requires { requires Op::of_matrices; };

/// A MatrixOp with weights per matrix of a batch; batch_strides(args) are the strides between them, in elements.
template <class Op>
concept BatchedOp = MatrixOp<Op> && requires(typename Op::Args const& args) {
    { Op::batch_strides(args) } -> std::same_as<Index<2>>;
};

/// A MainloopOp whose outputs are weights, K x C/groups x R x S, each a sum over all pixels.
template <class Op>
concept WeightGradientOp = MainloopOp<Op> && requires { requires Op::of_weights; };

namespace detail {

/// Op::per_pixel or, until the next release, its former name per_place; false for an operator without either.
template <class Op>
consteval bool totals_per_pixel() {
    if constexpr (requires { Op::per_pixel; }) return Op::per_pixel;
    else if constexpr (requires { Op::per_place; }) return Op::per_place;
    else return false;
}

}  // namespace detail

/// Needs a total of its input before its first result: over all values of a channel or, if `per_pixel`, over the values
/// of one pixel in all images of the batch. First operator of a Plan (plan/reduction.hpp).
template <class Op>
concept ReductionOp = HasStageAndArgs<Op> && requires(typename Op::template Total<float> total) {
    requires requires { Op::per_pixel; } || requires { Op::per_place; };
    { merge(total, total) } -> std::same_as<typename Op::template Total<float>>;
};

/// Passes the value through and totals the values of each channel: an Accumulator<V> adds each value and returns a
/// Total<V>, the statistics of the values, which save(total, at, args) writes. After a Conv, args.scratch holds one
/// Total<float> per channel and `total_pixels` pixels.
template <class Op>
concept StatisticsOp = EpilogueOp<Op> && requires(typename Op::template Total<float> total, OutputCoord const& at,
                                                  typename Op::Args const& args) {
    Op::save(total, at, args);
    { args.scratch.data } -> std::convertible_to<float*>;
};

/// Number of pixels over which each statistics Total in scratch is taken, before totals are merged: those of a Conv's
/// smallest tile.
inline constexpr std::int64_t total_pixels = 64;

/// Floats of scratch that Op, a statistics operator, needs after a Conv for y of these extents: one Total per channel
/// and `total_pixels` pixels.
template <class Op, int Rank>
FUSEKIT_H constexpr std::int64_t scratch_floats(Index<Rank> const& y) {
    std::int64_t pixels = 1;
    for (int mode = 0; mode < Rank; ++mode) pixels *= mode == 1 ? 1 : y[mode];
    std::int64_t const words = sizeof(typename Op::template Total<float>) / sizeof(float);
    return words * y[1] * ((pixels + total_pixels - 1) / total_pixels);
}

/// Rows and columns of a plane of x that one output of a pool reduces: at least one element, without padding.
struct PoolWindow {
    Extent row, column, rows, columns;

    FUSEKIT_HD constexpr Extent size() const { return rows * columns; }
};

/// Reduces every window of values of x to one output with Reduce. `output` returns the shape of y for that of x, and
/// `window` the window of output p, q. If there is a `geometry`, a Filter<2>, the windows are those of this filter.
/// `divides`: the windows partition the plane. `fits_tile`: the windows are 2 x 2 and adjacent, so that a Conv's tile
/// holds whole windows.
template <class Op>
concept PoolingOp = EpilogueOp<Op> && Op::stage == Stage::pooling && requires(CollapsedShape<4> x, Extent p, Extent q) {
    typename Op::Reduce;
    { Op::divides } -> std::convertible_to<bool>;
    { Op::fits_tile } -> std::convertible_to<bool>;
    { Op::window(x, p, q) } -> std::same_as<PoolWindow>;
    { Op::output(x) } -> std::same_as<CollapsedShape<4>>;
};

template <class Op>
concept Operator = MainloopOp<Op> || ReductionOp<Op> || EpilogueOp<Op>;

}  // namespace fusekit
