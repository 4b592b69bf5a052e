// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"
#include "fusekit/ops/operator.hpp"

namespace fusekit {

/// The largest value of a window; NaN where one of them is.
struct Max {
    static constexpr auto equation = "y[n,k,p,q] = max of x[n,k,2p+i,2q+j] over i, j";
    template <class V>
    FUSEKIT_HD static constexpr V neutral() {
        return V{} - __builtin_inff();
    }
    template <class V>
    FUSEKIT_HD static constexpr V combine(V a, V b) {
        return math::keep_nan(a, math::select(a > b, a, b));
    }
    template <class V>
    FUSEKIT_HD static constexpr V finish(V total, std::int64_t) {
        return total;
    }
};

/// The mean of a window's values: their sum, in float, divided by their number.
struct Average {
    static constexpr auto equation = "y[n,k,p,q] = mean of x[n,k,2p+i,2q+j] over i, j";
    template <class V>
    FUSEKIT_HD static constexpr V neutral() {
        return V{};
    }
    template <class V>
    FUSEKIT_HD static constexpr V combine(V a, V b) {
        return a + b;
    }
    template <class V>
    FUSEKIT_HD static constexpr V finish(V total, std::int64_t count) {
        return total / (V{} + static_cast<math::Scalar<V>>(count));
    }
};

namespace detail {

/// What pools have in common: apply passes the value on.
struct Pooling {
    static constexpr auto stage = Stage::pooling;
    struct Args {};

    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return x;
    }
};

}  // namespace detail

/// y[n,k,p,q] = the Max or Average of x[n,k,2p+i,2q+j] over i, j = 0, 1
///
/// The last operator of its plan, because it changes y's shape: N x K x P/2 x Q/2. It takes images alone.
/// Requires: even P and Q.
template <class Of, int Rows, int Columns>
struct Pool : detail::Pooling {
    static constexpr bool fits_tile = Rows == 2 && Columns == 2;
    static_assert(fits_tile, "Pool takes windows of 2 x 2, which a tile holds four by four values");
    static constexpr auto equation = Of::equation;
    using Reduce = Of;

    FUSEKIT_HD static constexpr Index<2> window(Index<4> const&) { return {{Rows, Columns}}; }
    static constexpr CollapsedShape<4> output(CollapsedShape<4> x) {
        x[2] /= Rows, x[3] /= Columns;
        return x;
    }

    static void check(Args const&, Check const& in) {
        if (in.y.from.kind != CollapsedFrom::images || in.y[2] % Rows != 0 || in.y[3] % Columns != 0)
            in.fail("", "images of even height and width to pool", to_string(in.y));
    }
};

/// y[n,k,0,0] = mean of x[n,k,p,q] over p, q
///
/// The last operator of its plan, because it changes y's shape: N x K x 1 x 1.
struct GlobalAverage : detail::Pooling {
    static constexpr bool fits_tile = false;
    static constexpr auto equation = "y[n,k] = mean of x[n,k,p,q] over p, q";
    using Reduce = Average;

    FUSEKIT_HD static constexpr Index<2> window(Index<4> const& x) { return {{x[2], x[3]}}; }
    static constexpr CollapsedShape<4> output(CollapsedShape<4> x) {
        x[2] = x[3] = x.from.count = 1;
        return x;
    }
};

}  // namespace fusekit
