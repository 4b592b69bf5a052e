// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/gemm/matrix_head.hpp"

namespace fusekit {

/// A Gemm with an option: weights of another element type than x, GemmWith<Weights<fk::int8>>, or a multiplication
/// format for floats, GemmWith<Products<fk::tf32>>.
template <class Option>
    requires(detail::HeadOption<Option>::is_valid)  // the option of a Gemm is Weights<T> or Products<T>
struct GemmWith : detail::MatrixHead<Option> {
    static constexpr auto equation = "y[m,n] = sum of x[m,k] * weights[n,k] over k";
    struct Args {
        Required<Collapsed<AnyView<2>, 2>, field::weights> weights;
    };

    FUSEKIT_HD static constexpr AnyView<4> filters(Args const& args) {
        Index<2> const &shape = args.weights.layout.shape, &stride = args.weights.layout.stride;
        float const* data = nullptr;
        // not an initializer, which nvcc 13 treats as a constant expression in device code
        if (!std::is_constant_evaluated()) data = args.weights.float32;
        return detail::MatrixHead<Option>::filters(data, args.weights.type, shape[0], shape[1], stride[0], stride[1]);
    }

    /// Offset in elements, from the weights' first element, of the weight that multiplies column k of x.
    FUSEKIT_H static constexpr std::int64_t weight_offset(Args const& args, auto const& at, std::int64_t k) {
        return args.weights.layout.offset({{at.k, k}});
    }

    FUSEKIT_H static constexpr CollapsedShape<4> output(CollapsedShape<4> x, Args const& args) {
        x[1] = args.weights.layout.shape[0];
        return x;
    }
    FUSEKIT_H static constexpr double flops(Index<4> const& y, Args const& args) {
        return GemmWith::multiply_adds(y, args.weights.layout.shape[1]);
    }
    FUSEKIT_H static Text name() { return detail::MatrixHead<Option>::name("Gemm"); }

    FUSEKIT_H static void check(Args const& args, Check const& in) {
        detail::check_weights<Option>(args.weights.type, in);
        detail::check_columns(args.weights.layout.shape, in);
        in.readable("weights", args.weights, {{args.weights.layout.shape[0], in.x[1]}}, "N x K", Access::read, true);
        detail::check_products(in.x[1], in, [&] { return Text::number(in.x[1]); });
    }
};

/// y[m,n] = sum of x[m,k] * weights[n,k] over k
///
/// Fully connected layer. Operators after a Gemm are applied to y with its N columns as channels.
/// Shapes: x M x K, weights N x K, y M x N. Batches: x B x M x K or A x B x M x K, y B x M x N or A x B x M x N; all
/// matrices of the batch share the weights (BatchedGemm has weights per matrix). Any strides.
/// Arguments: weights, of x's type or, with GemmWith<Weights<T>>, of T.
/// Requires: with int8, accumulated exactly in int32, K of at most 131071.
struct Gemm : GemmWith<void> {};

}  // namespace fusekit
