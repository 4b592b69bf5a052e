// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "fusekit/ops/operator/raise.hpp"
#include "fusekit/tensor/check.hpp"
#include "fusekit/tensor/required.hpp"

namespace fusekit {

/// An operator's kind. The ordering rules look at nothing else.
enum class Stage { mainloop, bias, normalization, activation, pointwise, pooling };

/// The place of one output element, and of the input element a pointwise plan reads for it. Rows of a volume are
/// counted through its slices: p is that of N x K x (O P) x Q; a signal's is 0. For matrices n, q and k are the batch,
/// the row and the column; p is 0, or the index of a second mode of batches.
struct OutputCoord {
    std::int64_t n, k, p, q;

    /// The element of `view` at this place; a rank-3 view (K x P x Q) is shared by the batch, a rank-1 view (K) by all
    /// places of a channel.
    FUSEKIT_HD constexpr float load(AnyView<4> const& view) const {
        return view.load(view.layout.offset({{n, k, p, q}}));
    }
    FUSEKIT_HD constexpr float load(TensorView<float const, 3> const& view) const { return view(k, p, q); }
    FUSEKIT_HD constexpr float load(AnyView<1> const& view) const { return view.load(k * view.layout.stride[0]); }

    /// Writes the element of `view` at this place.
    FUSEKIT_HD constexpr void store(AnyOutput const& view, float value) const {
        view.store(view.layout.offset({{n, k, p, q}}), value);
    }

    /// Raises a maximum, the plan's of this number, to |value|.
    template <int number>
    FUSEKIT_H constexpr void raise(float* maximum, float value) const {
        detail::raise_to(maximum, detail::magnitude_bits(value));
    }
};

/// An OutputCoord for operators that compute in double: no element is rounded to float.
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
/// value to one value. Softmax, layer norm, argmax and top-k need a whole row, or all channels of a place: no plan has
/// such operators. Run them between two plans.
///
/// An operator may also have:
///   static void check(Args const& args, Check const& in), which refuses arguments that do not fit (tensor/check.hpp:
///     in.readable, in.writable, in.require, in.fail). A view that apply reads through at.load alone may be checked
///     with Access::read_in_place: then it may be y. An operator without one has every view among its Args held to y by
///     rank: K values, K x P x Q, or N x K x P x Q, apart from y in memory; a mode of extent 1 and stride 0 is a
///     broadcast (plan/check_args.hpp). An operator that reads a view in another way, as a table, needs a check of its
///     own, which may be empty. Nothing can check what a pointer leads to.
///   static constexpr void views(Args& args, auto const& f), which calls f with each view of activations among its
///     Args: after a Gemm, a view of B x M x N is of matrices; elsewhere it is of signals.
///   static constexpr char const* equation: describe(...) prints it, as in "y = min(max(x, low), high)".
///   static constexpr int flops_per_element: describe(...) counts them; 1 where it is not given. Where the number
///     depends on more, static constexpr double flops(Index<4> const& y, Args const& args) counts those of all elements
///     of N x K x P x Q. static constexpr int gradient_flops_per_element is the number that it adds to a Backward plan.
///   static Text name(): messages print it in place of the type's name.
template <class Op>
concept HasStageAndArgs = requires {
    { Op::stage } -> std::convertible_to<Stage>;
    typename Op::Args;
} && std::is_trivially_copyable_v<typename Op::Args>;

/// apply(x, args): the same function at every place. Where `x` is a template parameter V, V may be a CPU vector,
/// or double.
template <class Op, class V = float>
concept Uniform = requires(V x, typename Op::Args const& args) {
    { Op::apply(x, args) } -> std::same_as<V>;
};

/// apply(x, at, args): a function of the place too. `at` is an OutputCoord, or, where it is a template
/// parameter, anything with load(view) and store(view, x), as OutputCoord has them. It may be called twice for a place,
/// and never for one that no window of a pool holds.
template <class Op, class V = float, class At = OutputCoord>
concept Located = requires(V x, At const& at, typename Op::Args const& args) {
    { Op::apply(x, at, args) } -> std::same_as<V>;
};

/// prepare(k, args), once a channel, gives a Prepared<float> of nothing but floats; apply(x, prepared) uses it
/// at every place of the channel. Where there is a prepare<double>, plans on double use it.
template <class Op, class V = float>
concept Channelwise =
    requires(V x, std::int64_t k, typename Op::Args const& args, typename Op::template Prepared<V> prepared) {
        { Op::prepare(k, args) } -> std::same_as<typename Op::template Prepared<float>>;
        { Op::apply(x, prepared) } -> std::same_as<V>;
    };

/// For operators whose parameters belong to a place of the image, K x P x Q, and are shared by the batch:
/// prepare(at, args), where `at` is a template parameter with load(view), gives a Prepared of what load gives.
template <class Op, class V = float, class At = OutputCoord>
concept Placewise =
    requires(V x, At const& at, typename Op::Args const& args, typename Op::template Prepared<V> prepared) {
        { Op::prepare(at, args) } -> std::same_as<typename Op::template Prepared<V>>;
        { Op::apply(x, prepared) } -> std::same_as<V>;
    };

/// Passes the value on, and writes stored(x) to output(args), activations of y's shape, at every place. A backend may
/// hand over neighbours together.
template <class Op>
concept Storing = requires(float x, typename Op::Args const& args) {
    { Op::output(args) } -> std::same_as<AnyOutput const&>;
    { Op::stored(x) } -> std::same_as<float>;
};

/// Passes the value on, and raises maximum(args) to the largest magnitude of all values.
template <class Op>
concept MaximumOp = requires(typename Op::Args const& args) {
    { Op::maximum(args) } -> std::same_as<float*>;
};

/// Has slope(x, ...), the derivative of apply(x, ...) with respect to x, in the form that its apply has.
template <class Op, class V = float, class At = OutputCoord>
concept Differentiable =
    (Uniform<Op, V> && requires(V x, typename Op::Args const& args) {
        { Op::slope(x, args) } -> std::same_as<V>;
    }) || (Located<Op, V, At> && requires(V x, At const& at, typename Op::Args const& args) {
        { Op::slope(x, at, args) } -> std::same_as<V>;
    }) || ((Channelwise<Op, V> || Placewise<Op, V, At>) && requires(V x, typename Op::template Prepared<V> prepared) {
        { Op::slope(x, prepared) } -> std::same_as<V>;
    });

/// Works on one element of the accumulator at a time: it may follow the head of a Plan.
template <class Op>
concept EpilogueOp = HasStageAndArgs<Op> && (Uniform<Op> || Located<Op> || Channelwise<Op> || Placewise<Op>);

/// Produces the accumulator from a neighbourhood of the input.
template <class Op>
concept MainloopOp = HasStageAndArgs<Op> && Op::stage == Stage::mainloop &&
                     requires(CollapsedShape<4> x, typename Op::Args const& args) {
                         { Op::output(x, args) } -> std::same_as<CollapsedShape<4>>;
                     };

namespace detail {

/// With int8, whose sums are 32-bit integers, refuses more products an output than fit one, or a number that overflowed
/// to -1. `given()` prints the number.
template <class Given>
FUSEKIT_H void check_products(std::int64_t products, Check const& in, Given const& given) {
    constexpr std::int64_t most = 131071;  // 131071 * 128 * 128 < 2^31
    if (in.type == DataType::int8 && (products < 0 || products > most))
        in.fail("weights", "at most 131071 products an output, whose sum fits 32 bits", given());
}

}  // namespace detail

/// A MainloopOp of matrices. Other operators take the rows as pixels and the columns as channels
/// (tensor/matrices.hpp).
template <class Op>
concept MatrixOp = MainloopOp<Op> && requires { requires Op::of_matrices; };

/// A MatrixOp that has weights for each matrix of a batch, as far apart as batch_strides(args) says.
template <class Op>
concept BatchedOp = MatrixOp<Op> && requires(typename Op::Args const& args) {
    { Op::batch_strides(args) } -> std::same_as<Index<2>>;
};

/// A MainloopOp whose outputs are weights, K x C/groups x R x S, each a sum over all pixels.
template <class Op>
concept WeightGradientOp = MainloopOp<Op> && requires { requires Op::of_weights; };

/// Needs a total over all values that share its parameters before it gives the first result: those of a channel, or,
/// where it is `per_place`, those of one place in every image of the batch. Begins a Plan (plan/reduction.hpp).
template <class Op>
concept ReductionOp = HasStageAndArgs<Op> && requires(typename Op::template Total<float> total) {
    { Op::per_place } -> std::convertible_to<bool>;
    { merge(total, total) } -> std::same_as<typename Op::template Total<float>>;
};

/// Passes the value on, and totals the values of each channel: an Accumulator<V> adds each value and gives a Total<V>,
/// which save(total, at, args) writes. After a Conv, args.scratch has room for a Total<float> of each channel for every
/// `total_pixels` of its pixels.
template <class Op>
concept StatisticsOp = EpilogueOp<Op> && requires(typename Op::template Total<float> total, OutputCoord const& at,
                                                  typename Op::Args const& args) {
    Op::save(total, at, args);
    { args.scratch.data } -> std::convertible_to<float*>;
};

/// The number of pixels that a total of a channel is over before totals are merged: that of a Conv's smallest tile.
inline constexpr std::int64_t total_pixels = 64;

/// The floats of scratch that Op, an operator of statistics, needs after a Conv for y of these extents: a total for
/// each channel of every `total_pixels` pixels.
template <class Op, int Rank>
FUSEKIT_H constexpr std::int64_t scratch_floats(Index<Rank> const& y) {
    std::int64_t pixels = 1;
    for (int mode = 0; mode < Rank; ++mode) pixels *= mode == 1 ? 1 : y[mode];
    std::int64_t const words = sizeof(typename Op::template Total<float>) / sizeof(float);
    return words * y[1] * ((pixels + total_pixels - 1) / total_pixels);
}

/// The rows and columns of a plane that one output of a pool is made of: one element or more, none of them padding.
struct PoolWindow {
    Extent row, column, rows, columns;

    FUSEKIT_HD constexpr Extent size() const { return rows * columns; }
};

/// Reduces every window of values to one, with Reduce; the plan writes that one. `output` gives the shape of y, and
/// `window` what the output p, q is made of. Windows are those of a Filter<2> `geometry` where there is one. `divides`
/// says whether each element is in one window, fits_tile whether windows are 2 x 2 side by side, so that a tile of a
/// Conv holds whole ones.
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
