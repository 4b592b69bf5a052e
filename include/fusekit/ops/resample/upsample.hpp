// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <type_traits>

#include "fusekit/ops/operator.hpp"
#include "fusekit/ops/resample/blocks.hpp"

namespace fusekit {

namespace detail {

/// Base of upsampling by whole factors: x N x K x H x W, y N x K x (rows H) x (columns W).
template <int rows, int columns>
struct Upsampling {
    static constexpr auto stage = Stage::pointwise;
    static constexpr bool keeps_channels = true;
    struct Args {};

    FUSEKIT_H static constexpr CollapsedShape<4> output(CollapsedShape<4> x, Args const&) {
        x[2] = bounded_product(x[2], rows), x[3] = bounded_product(x[3], columns);
        return x;
    }
    FUSEKIT_H static void check(Args const&, Check const& in) { check_images(in); }
    FUSEKIT_H static Text factors() {
        return rows == columns ? Text::number(rows) : Text::number(rows) + ", " + Text::number(columns);
    }
};

}  // namespace detail

/// y[n,k,p,q] = x[n,k,p / rows,q / columns], rounded down: every element of x is repeated. UpsampleNearest<2> doubles
/// both extents.
///
/// Must be the first operator of its plan. x must be images. No arguments. The gradient is Plan<Scale, Pool<Average,
/// rows, columns>> with a factor of rows * columns, on dy.
template <int rows, int columns = rows>
    requires(rows >= 1 && columns >= 1)  // factors of upsampling are 1 or more
struct UpsampleNearest : detail::Upsampling<rows, columns> {
    using Args = typename detail::Upsampling<rows, columns>::Args;
    static constexpr auto equation = "y[n,k,p,q] = x[n,k,p / rows,q / columns]";
    static constexpr int flops_per_element = 0;

    FUSEKIT_H static Text name() { return "UpsampleNearest<" + detail::Upsampling<rows, columns>::factors() + ">"; }
    template <class Load>
    FUSEKIT_HD static constexpr typename Load::Value gather(OutputCoord const& at, Index<4> const&, Index<4> const&,
                                                            Args const&, Load const& load) {
        return load({at.n, at.k, detail::quotient(at.p, rows), detail::quotient(at.q, columns)});
    }
};

/// y[n,k,p,q] = x interpolated linearly, in rows and columns, at h = (p + 1/2) / rows - 1/2 and w = (q + 1/2) / columns
/// - 1/2, where indices outside x are clamped to its edge: half-pixel centers, PyTorch's align_corners=False.
///
/// Must be the first operator of its plan. x must be images. No arguments.
template <int rows, int columns = rows>
    requires(rows >= 1 && columns >= 1)  // factors of upsampling are 1 or more
struct UpsampleBilinear : detail::Upsampling<rows, columns> {
    using Args = typename detail::Upsampling<rows, columns>::Args;
    static constexpr auto equation = "y[n,k,p,q] = x[n,k,h,w] interpolated at h = (p + 1/2) / rows - 1/2, w likewise";
    static constexpr int flops_per_element = 7;

    FUSEKIT_H static Text name() { return "UpsampleBilinear<" + detail::Upsampling<rows, columns>::factors() + ">"; }
    template <class Load>
    FUSEKIT_HD static constexpr typename Load::Value gather(OutputCoord const& at, Index<4> const& x, Index<4> const&,
                                                            Args const&, Load const& load) {
        using V = typename Load::Value;
        using Scalar = std::conditional_t<std::same_as<V, double>, double, float>;
        Between const h = between(at.p, rows, x[2]), w = between(at.q, columns, x[3]);
        Scalar const down = static_cast<Scalar>(h.steps) / (2 * rows),
                     right = static_cast<Scalar>(w.steps) / (2 * columns);
        auto const row = [&](Extent index) {
            return load({at.n, at.k, index, w.low}) * (1 - right) + load({at.n, at.k, index, w.high}) * right;
        };
        V const top = row(h.low), bottom = row(h.high);
        return top * (1 - down) + bottom * down;
    }

private:
    /// The two indices between which an output is interpolated, and its distance from the lower, in steps of 1 / (2
    /// factor).
    struct Between {
        Extent low, high;
        int steps;
    };
    FUSEKIT_HD static constexpr Between between(Extent output, int factor, Extent extent) {
        Extent const numerator = 2 * output + 1 - factor;
        // where one index suffices it is read twice, with weights 1/2: 0 times an infinite neighbour would be NaN
        if (numerator < 0) return {0, 0, factor};
        Extent const low = detail::quotient(numerator, 2 * factor);
        int const steps = static_cast<int>(numerator - low * 2 * factor);
        return steps == 0 || low + 1 >= extent ? Between{low, low, factor} : Between{low, low + 1, steps};
    }
};

}  // namespace fusekit
