// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/weights.hpp"

namespace fusekit {

/// A Gemm whose weights have another element type than x: GemmWith<Weights<fk::int8>>.
template <class Option>
    requires(detail::WeightsOption<Option>::is_valid)  // the option of a Gemm is Weights, as in Weights<fk::int8>
struct GemmWith {
    static constexpr auto stage = Stage::mainloop;
    static constexpr bool of_matrices = true;
    template <Element X>
    using WeightElement = typename detail::WeightsOption<Option>::template Element<X>;
    static constexpr auto equation = "y[m,n] = sum of x[m,k] * weights[n,k] over k";
    struct Args {
        Collapsed<AnyView<2>, 2> weights;
    };

    /// What a backend multiplies: a convolution of single pixels by filters of N x K x 1 x 1.
    static constexpr int collapsed_space = 2, longest = 1;
    static constexpr bool may_be_grouped = false, may_be_padded = false, may_be_single_pixels = true;
    FUSEKIT_HD static constexpr Filter<2> geometry(Args const&) {
        return {{1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}, 1};  // filter(1, 1), which is not for devices
    }
    FUSEKIT_HD static AnyView<4> filters(Args const& args) {
        Index<2> const &shape = args.weights.layout.shape, &stride = args.weights.layout.stride;
        AnyView<4> view(TensorView<float const>(args.weights.float32,
                                                {{{shape[0], shape[1], 1, 1}}, {{stride[0], stride[1], 1, 1}}}));
        view.type = args.weights.type;
        return view;
    }

    static constexpr CollapsedShape<4> output(CollapsedShape<4> x, Args const& args) {
        x[1] = args.weights.layout.shape[0];
        return x;
    }

    static constexpr double flops(Index<4> const& y, Args const& args) {
        double count = 2 * static_cast<double>(args.weights.layout.shape[1]);
        for (std::int64_t extent : y.values) count *= static_cast<double>(extent);
        return count;
    }

    static Text name() {
        Text const option = detail::WeightsOption<Option>::written();
        return option.empty() ? Text("Gemm") : "GemmWith<" + option + ">";
    }

    static void check(Args const& args, Check const& in) {
        detail::check_weights<Option>(args.weights.type, in);
        in.readable("weights", args.weights, {{args.weights.layout.shape[0], in.x[1]}}, "N x K");
        detail::check_products(in.x[1], in, [&] { return Text::number(in.x[1]); });
    }
};

/// y[m,n] = sum of x[m,k] * weights[n,k] over k
///
/// A fully connected layer. The operators that follow take the N columns of y as channels.
/// Shapes: x M x K, weights N x K, y M x N; with x B x M x K or A x B x M x K, y B x M x N or A x B x M x N, and all
/// matrices of the batch are multiplied by the same weights. Any strides.
/// Arguments: weights, of x's type or, with GemmWith<Weights<T>>, of T.
/// Requires: with int8, whose sums are exact 32-bit integers, K of at most 131071.
struct Gemm : GemmWith<void> {};

}  // namespace fusekit
