// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/products.hpp"

namespace fusekit::detail {

/// Stores an error in `in` if x is an image instead of a matrix, or if the weights are K x N instead of N x K. The
/// error names the function of tensor/transform.hpp that converts the argument. Other mistakes are found by the checks
/// of extents.
[[gnu::cold]] FUSEKIT_H inline void refuse_columns(Index<2> const& weights, Check const& in) {
    std::int64_t const n = weights[0], k = weights[1], batches = in.x.from.count;
    if (batches == 2 && in.x[2] * in.x[3] * in.x[1] == k) {
        Check of_x = in;
        of_x.operator_name = [] { return Text("x"); };
        Text const matrices = Text::number(in.x[0]) + ", " + Text::number(k);
        return of_x.fail("", "M x " + Text::number(k) + ", as the weights are N x K",
                         to_string(in.x) + ": if x is images, write fk::reshaped(x, " + matrices + ")");
    }
    if (n == in.x[1])
        in.fail("weights", Text::number(k) + " x " + Text::number(n) + " (N x K)",
                Text::number(n) + " x " + Text::number(k) +
                    ": if the weights are K x N, write fk::transposed(weights, 0, 1)");
}
FUSEKIT_H inline void check_columns(Index<2> const& weights, Check const& in) {
    if (weights[1] != in.x[1]) refuse_columns(weights, in);
}

/// Head (the Conv or Gemm of a plan) that multiplies matrices. A backend runs it as a 1x1 convolution with filters of N
/// x K x 1 x 1.
template <class Option>
struct MatrixHead {
    static constexpr auto stage = Stage::mainloop;
    static constexpr bool of_matrices = true;
    template <Element X>
    using WeightElement = typename HeadOption<Option>::template Element<X>;
    using FloatFactor = typename HeadOption<Option>::Factor;

    static constexpr int collapsed_space = 2, longest = 1;
    static constexpr bool may_be_grouped = false, may_be_padded = false, may_be_single_pixels = true;
    static constexpr Filter<2> collapsed = filter(1, 1);
    FUSEKIT_HD static constexpr Filter<2> geometry(auto const&) { return collapsed; }
    /// View of weights, of element type `type`, as N x K x 1 x 1 filters; `n_stride` and `k_stride` are their strides
    /// in elements along n and k.
    FUSEKIT_HD static constexpr AnyView<4> filters(float const* data, DataType type, Extent n, Extent k,
                                                   Extent n_stride, Extent k_stride) {
        AnyView<4> view(TensorView<float const>(data, {{{n, k, 1, 1}}, {{n_stride, k_stride, 1, 1}}}));
        view.type = type;
        return view;
    }

    FUSEKIT_H static constexpr double multiply_adds(Index<4> const& y, Extent k) {
        double count = 2 * static_cast<double>(k);
        for (std::int64_t extent : y.values) count *= static_cast<double>(extent);
        return count;
    }

    /// Name for messages: "Gemm", or "GemmWith<Products<tf32>>" if there is an option.
    FUSEKIT_H static Text name(char const* name) {
        Text const option = HeadOption<Option>::written();
        return option.empty() ? Text(name) : Text(name) + "With<" + option + ">";
    }
};

}  // namespace fusekit::detail
