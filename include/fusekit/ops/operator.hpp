// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "fusekit/ops/operator/raise.hpp"
#include "fusekit/ops/operator/row.hpp"
#include "fusekit/tensor/check.hpp"
#include "fusekit/tensor/required.hpp"

namespace fusekit {

/// Kind of an operator, which the ordering rules test (plan/sequence.hpp).
enum class Stage { mainloop, bias, normalization, activation, pointwise, pooling };

/// Coordinate (n, k, p, q) of one output element; for a plan without a Conv or Gemm also that of the input element. For
/// a volume, p is the row counted through all slices, 0 to O P - 1; for a signal p is 0. For matrices, n, q and k are
/// the batch, the row and the column; p is 0, or the index along a second batch mode.
struct OutputCoord {
    std::int64_t n, k, p, q;

    /// Loads the element of `view` at this coordinate; a view of rank 3 (K x P x Q) is broadcast over n, a view of rank
    /// 1 (K) over n, p, q.
    FUSEKIT_HD constexpr float load(AnyView<4> const& view) const {
        return view.load(view.layout.offset({{n, k, p, q}}));
    }
    FUSEKIT_HD constexpr float load(TensorView<float const, 3> const& view) const { return view(k, p, q); }
    FUSEKIT_HD constexpr float load(AnyView<1> const& view) const { return view.load(k * view.layout.stride[0]); }

    /// Stores `value`, rounded to the view's element type, to the element of `view` at this coordinate.
    FUSEKIT_HD constexpr void store(AnyOutput const& view, float value) const {
        view.store(view.layout.offset({{n, k, p, q}}), value);
    }

    /// Sets *maximum to max(*maximum, |value|). `number` is the index of an Amax operator among those of the plan, from
    /// 0.
    template <int number>
    FUSEKIT_H constexpr void raise(float* maximum, float value) const {
        detail::raise_to(maximum, detail::magnitude_bits(value));
    }
};

/// OutputCoord for plans on double: load() returns elements as double, without rounding to float.
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

/// An operator is a struct with a stage, an aggregate of run-time arguments (Args), and one of the forms below. An
/// operator maps one value to one value, or begins the plan as a RowOp or a GatherOp. Argmax and top-k cannot be
/// operators of a plan: run them between two plans.
///
/// An operator may also have:
///   static void check(Args const& args, Check const& in), which stores an error in `in` for invalid arguments
///     (tensor/check.hpp: in.readable, in.writable, in.require, in.fail). A view that apply reads through at.load alone
///     may be checked with Access::read_in_place: then it may be y. Without a check, every view in Args is checked
///     against y by rank: K values, K x P x Q, or N x K x P x Q, disjoint from y in memory; a mode of extent 1 and
///     stride 0 is broadcast (plan/check_args.hpp). An operator that reads a view differently, as a table, needs a
///     check, which may be empty. Raw pointers cannot be checked.
///   static constexpr void views(Args& args, auto const& f), which calls f with each view of activations in Args: after
///     a Gemm, a view of B x M x N holds matrices; elsewhere it holds signals.
///   static AnyView<4> const& read_view(Args const& args): the one view that `views` lists, if apply and
///     slope load elements of no other, so that a backend may load them as vectors.
///   static constexpr char const* equation: describe(...) prints it, as in "y = min(max(x, low), high)".
///   static constexpr int flops_per_element: describe(...) multiplies it by the number of elements; default 1. If the
///     count depends on Args, static constexpr double flops(Index<4> const& y, Args const& args) returns the FLOPs of
///     all N x K x P x Q elements.
///   static constexpr int gradient_flops_per_element: FLOPs per element that the operator adds to a Backward plan.
///   struct Gradients, optional outputs of a backward pass, and store_gradients(dy, at, args, gradients), or with (x,
///   dy,
///     ...), which writes their elements at one coordinate; x is the operator's input.
///   static Text name(): messages print it instead of the type's name.
template <class Op>
concept HasStageAndArgs = requires {
    { Op::stage } -> std::convertible_to<Stage>;
    typename Op::Args;
} && std::is_trivially_copyable_v<typename Op::Args>;

/// Concept of operators with apply(x, args): the same function for every element. If the type of `x` is a template
/// parameter V, V may be a CPU vector, or double.
template <class Op, class V = float>
concept Uniform = requires(V x, typename Op::Args const& args) {
    { Op::apply(x, args) } -> std::same_as<V>;
};

/// Concept of operators with apply(x, at, args): a function of the output coordinate too. `at` is an OutputCoord or, if
/// its type is a template parameter, any type with OutputCoord's load(view) and store(view, x). A backend may call
/// apply twice for one coordinate, and never calls it for a coordinate that no pool window covers.
template <class Op, class V = float, class At = OutputCoord>
concept Located = requires(V x, At const& at, typename Op::Args const& args) {
    { Op::apply(x, at, args) } -> std::same_as<V>;
};

/// Concept of operators with parameters per channel: prepare(k, args), called once per channel, returns a
/// Prepared<float>, a struct of floats; apply(x, prepared) is called for every element of the channel. Plans on double
/// call prepare<double> if it exists.
template <class Op, class V = float>
concept Channelwise =
    requires(V x, std::int64_t k, typename Op::Args const& args, typename Op::template Prepared<V> prepared) {
        { Op::prepare(k, args) } -> std::same_as<typename Op::template Prepared<float>>;
        { Op::apply(x, prepared) } -> std::same_as<V>;
    };

/// Concept of operators with parameters per pixel, K x P x Q, broadcast over the batch: prepare(at, args), where the
/// type of `at` is a template parameter with load(view), returns a Prepared of the type that load returns; apply(x,
/// prepared) is called for channel at.k of pixel (at.p, at.q) in every image.
template <class Op, class V = float, class At = OutputCoord>
concept Pixelwise =
    requires(V x, At const& at, typename Op::Args const& args, typename Op::template Prepared<V> prepared) {
        { Op::prepare(at, args) } -> std::same_as<typename Op::template Prepared<V>>;
        { Op::apply(x, prepared) } -> std::same_as<V>;
    };
/// Former name of Pixelwise, until the next release.
template <class Op, class V = float, class At = OutputCoord>
concept Placewise = Pixelwise<Op, V, At>;

/// Concept of operators that return x unchanged and store stored(x) to output(args), a tensor of y's shape, at every
/// coordinate. A backend may store a vector of adjacent elements at once.
template <class Op>
concept Storing = requires(float x, typename Op::Args const& args) {
    { Op::output(args) } -> std::same_as<AnyOutput const&>;
    { Op::stored(x) } -> std::same_as<float>;
};

/// Concept of operators that return x unchanged and set *maximum(args) to the largest |x| of all values.
template <class Op>
concept MaximumOp = requires(typename Op::Args const& args) {
    { Op::maximum(args) } -> std::same_as<float*>;
};

/// Concept of operators with slope(x, ...), the derivative of apply(x, ...) with respect to x, with apply's arguments.
template <class Op, class V = float, class At = OutputCoord>
concept Differentiable =
    (Uniform<Op, V> && requires(V x, typename Op::Args const& args) {
        { Op::slope(x, args) } -> std::same_as<V>;
    }) || (Located<Op, V, At> && requires(V x, At const& at, typename Op::Args const& args) {
        { Op::slope(x, at, args) } -> std::same_as<V>;
    }) || ((Channelwise<Op, V> || Pixelwise<Op, V, At>) && requires(V x, typename Op::template Prepared<V> prepared) {
        { Op::slope(x, prepared) } -> std::same_as<V>;
    });

/// Concept of operators that map one value at a time: valid after the Conv or Gemm of a Plan.
template <class Op>
concept EpilogueOp = HasStageAndArgs<Op> && (Uniform<Op> || Located<Op> || Channelwise<Op> || Pixelwise<Op>);

/// Concept of operators that reduce a window or a row of the input to one value, such as Conv and Gemm.
template <class Op>
concept MainloopOp = HasStageAndArgs<Op> && Op::stage == Stage::mainloop &&
                     requires(CollapsedShape<4> x, typename Op::Args const& args) {
                         { Op::output(x, args) } -> std::same_as<CollapsedShape<4>>;
                     };

namespace detail {

/// With int8, whose products are summed in int32: stores an error in `in` if an output has more than 131071 products,
/// or if the count is -1 because it overflowed. given() returns the text of the count.
template <class Given>
FUSEKIT_H void check_products(std::int64_t products, Check const& in, Given const& given) {
    constexpr std::int64_t most = 131071;  // 131071 * 128 * 128 < 2^31
    if (in.type == DataType::int8 && (products < 0 || products > most))
        in.fail("weights", "at most 131071 products an output, whose sum fits 32 bits", given());
}

}  // namespace detail

/// Concept of MainloopOps on matrices. Later operators are applied to y with rows as pixels and columns as channels
/// (tensor/matrices.hpp).
template <class Op>
concept MatrixOp = MainloopOp<Op> && requires { requires Op::of_matrices; };

/// Concept of MatrixOps with weights per matrix of a batch; batch_strides(args) returns the strides in elements from
/// one weight matrix to the next, along both batch modes.
template <class Op>
concept BatchedOp = MatrixOp<Op> && requires(typename Op::Args const& args) {
    { Op::batch_strides(args) } -> std::same_as<Index<2>>;
};

/// Concept of MainloopOps whose results are weights, K x C/groups x R x S, each a sum over all pixels.
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

/// Concept of operators whose results depend on a total of their input: over all values of a channel or, if
/// `per_pixel`, over the values of one pixel in all images of the batch. Valid only as the first operator of a Plan
/// (plan/reduction.hpp).
template <class Op>
concept ReductionOp = HasStageAndArgs<Op> && requires(typename Op::template Total<float> total) {
    requires requires { Op::per_pixel; } || requires { Op::per_place; };
    { merge(total, total) } -> std::same_as<typename Op::template Total<float>>;
};

/// Concept of operators that return x unchanged and total the values of each channel: an Accumulator<V> adds each value
/// and returns a Total<V>, the statistics of the values, which save(total, at, args) writes.
template <class Op>
concept StatisticsOp = EpilogueOp<Op> && requires(typename Op::template Total<float> total, OutputCoord const& at,
                                                  typename Op::Args const& args) { Op::save(total, at, args); };

/// Concept of StatisticsOps that are valid after a Conv or Gemm: args.scratch then has one Total<float> per channel and
/// `total_pixels` pixels.
template <class Op>
concept TileStatisticsOp = StatisticsOp<Op> && requires(typename Op::Args const& args) {
    { args.scratch.data } -> std::convertible_to<float*>;
};

/// Number of pixels of which each Total in scratch has the statistics before all are merged: the pixels of a Conv's
/// smallest tile.
inline constexpr std::int64_t total_pixels = 64;

/// Number of floats of scratch that Op, a statistics operator, needs after a Conv for y of these extents: one Total per
/// channel and `total_pixels` pixels.
template <class Op, int Rank>
FUSEKIT_H constexpr std::int64_t scratch_floats(Index<Rank> const& y) {
    std::int64_t pixels = 1;
    for (int mode = 0; mode < Rank; ++mode) pixels *= mode == 1 ? 1 : y[mode];
    std::int64_t const words = sizeof(typename Op::template Total<float>) / sizeof(float);
    return words * y[1] * ((pixels + total_pixels - 1) / total_pixels);
}

/// Window of x, in one plane H x W, that one output of a pool reduces: first row and column, and their numbers. The
/// window has at least one element and no padding. padded_rows and padded_columns: rows and columns of padding that a
/// mean counts as zeros.
struct PoolWindow {
    Extent row, column, rows, columns, padded_rows = 0, padded_columns = 0;

    FUSEKIT_HD constexpr Extent size() const { return rows * columns; }
    /// Number of values in a mean.
    FUSEKIT_HD constexpr Extent count() const { return (rows + padded_rows) * (columns + padded_columns); }
};

/// Concept of pools, which reduce every window of values of x to one output with Op::Reduce. output() returns the shape
/// of y for that of x, and window() the window of output (p, q). If Op has a `geometry`, a Filter<2>, the windows are
/// those of this filter. `divides`: every element of the plane is in exactly one window. `fits_tile`: the windows are 2
/// x 2 and adjacent, so that a Conv's output tile has whole windows.
template <class Op>
concept PoolingOp = EpilogueOp<Op> && Op::stage == Stage::pooling && requires(CollapsedShape<4> x, Extent p, Extent q) {
    typename Op::Reduce;
    { Op::divides } -> std::convertible_to<bool>;
    { Op::fits_tile } -> std::convertible_to<bool>;
    { Op::window(x, p, q) } -> std::same_as<PoolWindow>;
    { Op::output(x) } -> std::same_as<CollapsedShape<4>>;
};

/// Concept of operators whose results depend on all values of a row (ops/operator/row.hpp). Only operators
/// that map one value to one value may precede it.
template <class Op>
concept RowOp = HasStageAndArgs<Op> && ReducesRows<Op>;

/// Concept of RowOps with a derivative, so that Backward<Plan> exists.
template <class Op>
concept DifferentiableRowOp = RowOp<Op> && HasRowGradient<Op>;

/// Concept of operators that compute each value of y from a few values of x: gather(at, x, y, args, load), with the
/// extents of x and y; load(from) returns the value of x at an OutputCoord, of type Load::Value: a float, a double, or
/// a vector of channels if `keeps_channels`, which states that channel k of y depends on channel k of x alone. Valid
/// only as the first operator of a Plan.
template <class Op>
concept GatherOp = HasStageAndArgs<Op> && requires(CollapsedShape<4> x, typename Op::Args const& args) {
    { Op::keeps_channels } -> std::convertible_to<bool>;
    { Op::output(x, args) } -> std::same_as<CollapsedShape<4>>;
};

template <class Op>
concept Operator = MainloopOp<Op> || ReductionOp<Op> || RowOp<Op> || GatherOp<Op> || EpilogueOp<Op>;

}  // namespace fusekit
