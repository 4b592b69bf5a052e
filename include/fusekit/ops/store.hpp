// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"
#include "fusekit/ops/operator.hpp"

namespace fusekit {

namespace detail {

/// Base of operators that store one value per element to a tensor other than y.
template <class Op>
struct StoringOp {
    static constexpr auto stage = Stage::pointwise;

    template <class V, class At>
    FUSEKIT_HD static constexpr V apply(V x, At const& at, auto const& args) {
        at.store(Op::output(args), Op::stored(x));
        return x;
    }
};

}  // namespace detail

/// y = x, and values[n,k,p,q] = x[n,k,p,q]: the plan also stores the value at this operator's position to a second
/// tensor. Before an activation that is the tensor that a backward pass needs.
///
/// Arguments: values, of y's shape, any element type and strides, disjoint in memory from all other arguments. The
/// stored value is rounded to its type; the plan continues with the unrounded value.
struct Store : detail::StoringOp<Store> {
    static constexpr auto equation = "y = x, values[n,k,p,q] = x";
    static constexpr int flops_per_element = 0;
    struct Args {
        Required<AnyOutput, field::values> values;
    };

    FUSEKIT_HD static constexpr AnyOutput const& output(Args const& args) { return args.values; }
    template <class V>
    FUSEKIT_HD static constexpr V stored(V x) {
        return x;
    }

    FUSEKIT_H static constexpr void views(Args& args, auto const& f) { f(args.values); }
    FUSEKIT_H static void check(Args const& args, Check const& in) {
        in.writable("values", args.values, in.y, "N x K x P x Q");
    }
};

/// y = x, and mask[n,k,p,q] = 1 if x > 0, else 0 (for NaN too): before a Relu, the slope of that Relu.
///
/// Arguments: mask, of y's shape, any element type (int8: one byte per element) and strides, disjoint in memory from
/// all other arguments.
struct StoreMask : detail::StoringOp<StoreMask> {
    static constexpr auto equation = "y = x, mask[n,k,p,q] = x > 0";
    struct Args {
        Required<AnyOutput, field::mask> mask;
    };

    FUSEKIT_HD static constexpr AnyOutput const& output(Args const& args) { return args.mask; }
    template <class V>
    FUSEKIT_HD static constexpr V stored(V x) {
        return math::select(x > 0.0f, V{} + 1.0f, V{});
    }

    FUSEKIT_H static constexpr void views(Args& args, auto const& f) { f(args.mask); }
    FUSEKIT_H static void check(Args const& args, Check const& in) {
        in.writable("mask", args.mask, in.y, "N x K x P x Q");
    }
};

}  // namespace fusekit
