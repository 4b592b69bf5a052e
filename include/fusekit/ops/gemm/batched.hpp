// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/gemm/matrix_head.hpp"

namespace fusekit {

/// A BatchedGemm with an option, as in GemmWith: BatchedGemmWith<Weights<fk::int8>>.
template <class Option>
    requires(detail::HeadOption<Option>::is_valid)  // the option of a BatchedGemm is Weights<T> or Products<T>
struct BatchedGemmWith : detail::MatrixHead<Option> {
    static constexpr auto equation = "y[b,m,n] = sum of x[b,m,k] * weights[b,n,k] over k";
    struct Args {
        Required<AnyActivations, field::weights> weights;
    };
    FUSEKIT_H static constexpr void views(Args& args, auto const& f) { f(args.weights); }

    /// Weights of the batch's first matrix as a view of N x K x 1 x 1 filters.
    FUSEKIT_HD static AnyView<4> filters(Args const& args) {
        Index<4> const &shape = args.weights.layout.shape, &stride = args.weights.layout.stride;
        return detail::MatrixHead<Option>::filters(args.weights.float32, args.weights.type, shape[3], shape[1],
                                                   stride[3], stride[1]);
    }
    /// Strides in elements from one weight matrix to the next, along the batch modes A and B.
    FUSEKIT_HD static constexpr Index<2> batch_strides(Args const& args) {
        return {{args.weights.layout.stride[0], args.weights.layout.stride[2]}};
    }

    /// Offset in elements, from the weights' first element, of the weight that multiplies column k of x for output
    /// `at`.
    FUSEKIT_H static constexpr std::int64_t weight_offset(Args const& args, auto const& at, std::int64_t k) {
        return args.weights.layout.offset({{at.n, k, at.p, at.k}});
    }

    FUSEKIT_H static constexpr CollapsedShape<4> output(CollapsedShape<4> x, Args const& args) {
        x[1] = args.weights.layout.shape[3];
        return x;
    }
    FUSEKIT_H static constexpr double flops(Index<4> const& y, Args const& args) {
        return BatchedGemmWith::multiply_adds(y, args.weights.layout.shape[1]);
    }
    FUSEKIT_H static Text name() { return detail::MatrixHead<Option>::name("BatchedGemm"); }

    FUSEKIT_H static void check(Args const& args, Check const& in) {
        detail::check_weights<Option>(args.weights.type, in);
        CollapsedShape<4> shape = in.x;
        shape[3] = args.weights.layout.shape[3];
        in.readable("weights", args.weights, shape, "N x K", Access::read, true);
        detail::check_products(in.x[1], in, [&] { return Text::number(in.x[1]); });
    }
};

/// y[b,m,n] = sum of x[b,m,k] * weights[b,n,k] over k
///
/// Batched matrix product, as in attention: every matrix of the batch has its own weights. Operators after a
/// BatchedGemm are applied to y with its N columns as channels.
/// Shapes: x B x M x K, weights B x N x K, y B x M x N; or x A x B x M x K, weights A x B x N x K, y A x B x M x N; or
/// those of a Gemm. Any strides: weights stored as K x N are a transposed view, and a stride of 0 broadcasts along a
/// mode.
/// Arguments: weights, of x's type or, with BatchedGemmWith<Weights<T>>, of T.
/// Requires: with int8, accumulated exactly in int32, K of at most 131071. No statistics.
struct BatchedGemm : BatchedGemmWith<void> {};

}  // namespace fusekit
