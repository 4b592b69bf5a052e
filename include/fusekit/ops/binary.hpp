// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"
#include "fusekit/ops/operator.hpp"

namespace fusekit {

namespace detail {

/// Base of the operators y[n,k,p,q] = Function::value(x[n,k,p,q], z[n,k,p,q]).
///
/// Arguments: z, of y's shape, any element type and strides, disjoint from y in memory or y itself. A z that is smaller
/// along some modes is expanded by broadcast(z, n, k, p, q): a gate N x K x 1 x 1, a factor per channel 1 x K x 1 x 1,
/// a mask 1 x 1 x P x Q. Function has slope_x(x, z) and slope_z(x, z), the derivatives of value(x, z).
template <class Function>
struct Binary {
    static constexpr auto stage = Stage::pointwise;
    static constexpr int flops_per_element = 1, gradient_flops_per_element = 3;
    struct Args {
        Required<AnyActivations, field::z> z;
    };

    template <class V, class At>
    FUSEKIT_HD static constexpr V apply(V x, At const& at, Args const& args) {
        return Function::template value<V>(x, at.load(args.z));
    }
    template <class V, class At>
    FUSEKIT_HD static constexpr V slope(V x, At const& at, Args const& args) {
        return Function::template slope_x<V>(x, at.load(args.z));
    }

    /// Output of a backward pass: z[n,k,p,q] = dy * slope_z, of y's shape, any element type and strides. The gradient
    /// of a z that broadcast() has expanded is the sum of these values over the expanded modes.
    struct Gradients {
        OptionalOutput z = {};
    };
    template <class V, class At>
    FUSEKIT_HD static constexpr void store_gradients(V x, V dy, At const& at, Args const& args,
                                                     Gradients const& gradients) {
        if (gradients.z.given()) at.store(gradients.z, V(dy * Function::template slope_z<V>(x, at.load(args.z))));
    }

    FUSEKIT_H static constexpr void views(Args& args, auto const& f) { f(args.z); }
    FUSEKIT_HD static constexpr AnyView<4> const& read_view(Args const& args) { return args.z; }
    FUSEKIT_H static void check(Args const& args, Check const& in) {
        in.readable("z", args.z, in.y, "N x K x P x Q", Access::read_in_place);
    }
    FUSEKIT_H static void check_gradients(Gradients const& gradients, Check const& in) {
        in.writable("gradients.z", gradients.z, in.y, "N x K x P x Q");
    }
};

/// Slope of the maximum or minimum of two values: 1 for the one that is the result, 1/2 for each of two equal ones, as
/// PyTorch has it.
template <class V>
FUSEKIT_HD constexpr V share_of(V own, V other, V result) {
    V const half = math::select(own == other, V{} + 0.5f, V{} + 1.0f);
    return math::select((own == result) | (own != own), half, V{});
}

}  // namespace detail

/// y = x + z. Arguments and gradient as of detail::Binary; Residual also scales z.
struct Add : detail::Binary<Add> {
    static constexpr auto equation = "y = x + z[n,k,p,q]";
    template <class V>
    FUSEKIT_HD static constexpr V value(V x, V z) {
        return x + z;
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope_x(V, V) {
        return V{} + 1.0f;
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope_z(V, V) {
        return V{} + 1.0f;
    }
};

/// y = x - z. Arguments and gradient as of detail::Binary.
struct Subtract : detail::Binary<Subtract> {
    static constexpr auto equation = "y = x - z[n,k,p,q]";
    template <class V>
    FUSEKIT_HD static constexpr V value(V x, V z) {
        return x - z;
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope_x(V, V) {
        return V{} + 1.0f;
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope_z(V, V) {
        return V{} - 1.0f;
    }
};

/// y = x * z: the gate of squeeze-and-excite, layer scale, dropout's and stochastic depth's masks. Arguments and
/// gradient as of detail::Binary.
struct Multiply : detail::Binary<Multiply> {
    static constexpr auto equation = "y = x * z[n,k,p,q]";
    template <class V>
    FUSEKIT_HD static constexpr V value(V x, V z) {
        return x * z;
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope_x(V, V z) {
        return z;
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope_z(V x, V) {
        return x;
    }
};

/// y = x / z. Arguments and gradient as of detail::Binary.
struct Divide : detail::Binary<Divide> {
    static constexpr auto equation = "y = x / z[n,k,p,q]";
    template <class V>
    FUSEKIT_HD static constexpr V value(V x, V z) {
        return x / z;
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope_x(V, V z) {
        return (V{} + 1.0f) / z;
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope_z(V x, V z) {
        return V{} - x / z / z;
    }
};

/// y = the larger of x and z; NaN if one is NaN. Arguments and gradient as of detail::Binary. At x = z both slopes are
/// 1/2.
struct Maximum : detail::Binary<Maximum> {
    static constexpr auto equation = "y = max(x, z[n,k,p,q])";
    template <class V>
    FUSEKIT_HD static constexpr V value(V x, V z) {
        return math::select((x > z) | (x != x), x, z);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope_x(V x, V z) {
        return detail::share_of(x, z, value(x, z));
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope_z(V x, V z) {
        return detail::share_of(z, x, value(x, z));
    }
};

/// y = the smaller of x and z; NaN if one is NaN. Arguments and gradient as of detail::Binary. At x = z both slopes are
/// 1/2.
struct Minimum : detail::Binary<Minimum> {
    static constexpr auto equation = "y = min(x, z[n,k,p,q])";
    template <class V>
    FUSEKIT_HD static constexpr V value(V x, V z) {
        return math::select((x < z) | (x != x), x, z);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope_x(V x, V z) {
        return detail::share_of(x, z, value(x, z));
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope_z(V x, V z) {
        return detail::share_of(z, x, value(x, z));
    }
};

/// y[n,k,p,q] = x[n,k,p,q] where mask[n,k,p,q] is not 0, else otherwise. x is not used where the mask is 0: an infinity
/// or NaN there leaves no trace, as it would in a product with the mask.
///
/// Arguments: mask, of y's shape (broadcast() expands a smaller one), any element type and strides, disjoint from y in
/// memory or y itself; a mask of NaN counts as not 0. otherwise, one number.
struct Select {
    static constexpr auto stage = Stage::pointwise;
    static constexpr auto equation = "y = x where mask[n,k,p,q] is not 0, else otherwise";
    struct Args {
        Required<AnyActivations, field::mask> mask;
        float otherwise = 0.0f;
    };

    template <class V, class At>
    FUSEKIT_HD static constexpr V apply(V x, At const& at, Args const& args) {
        V const mask = at.load(args.mask);
        return math::select(mask != V{}, x, V{} + args.otherwise);
    }
    template <class V, class At>
    FUSEKIT_HD static constexpr V slope(V, At const& at, Args const& args) {
        V const mask = at.load(args.mask);
        return math::select(mask != V{}, V{} + 1.0f, V{});
    }

    FUSEKIT_H static constexpr void views(Args& args, auto const& f) { f(args.mask); }
    FUSEKIT_HD static constexpr AnyView<4> const& read_view(Args const& args) { return args.mask; }
    FUSEKIT_H static void check(Args const& args, Check const& in) {
        in.readable("mask", args.mask, in.y, "N x K x P x Q", Access::read_in_place);
    }
};

}  // namespace fusekit
