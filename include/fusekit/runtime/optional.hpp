// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/batch_norm.hpp"
#include "fusekit/ops/bias.hpp"
#include "fusekit/ops/scale.hpp"
#include "fusekit/plan/name.hpp"

namespace fusekit::runtime {

namespace detail {

/// Parameters of an operator Op with which it returns its input bit for bit, and its Args with null pointers, for a run
/// that omits Op.
template <class Op>
struct Identity;
template <>
struct Identity<Bias> {
    template <class V>
    FUSEKIT_HD static constexpr Bias::Prepared<V> prepared() {
        return {-V{}};  // -0: adding +0 would change -0 to +0
    }
    FUSEKIT_H static Bias::Args arguments() { return {AnyView<1>(TensorView<float const, 1>(nullptr, {}))}; }
};
template <>
struct Identity<BatchNormInference<Spatial>> {
    using Op = BatchNormInference<Spatial>;
    template <class V>
    FUSEKIT_HD static constexpr Op::Prepared<V> prepared() {
        return {V{}, V{} + 1.0f, -V{}};
    }
    FUSEKIT_H static Op::Args arguments() {
        TensorView<float const, 1> const none(nullptr, {});
        return {none, none, none, none};
    }
};

}  // namespace detail

/// Operator that a run may omit; then its input is returned bit for bit, and no parameters are read. One plan is used
/// for sequences with and without the operator. Op is a Bias, a BatchNormInference<Spatial> or a Scale.
template <class Op>
struct Optional {
    static constexpr auto stage = Op::stage;
    static constexpr auto equation = Op::equation;
    struct Args {
        typename Op::Args of_op;
        bool is_given;
    };
    FUSEKIT_H static Args given(typename Op::Args const& args) { return {args, true}; }
    FUSEKIT_H static Args absent() { return {detail::Identity<Op>::arguments(), false}; }

    template <class V>
    using Prepared = typename Op::template Prepared<V>;
    template <class V = float>
    FUSEKIT_HD static constexpr Prepared<V> prepare(std::int64_t k, Args const& args) {
        if (args.is_given) return Op::template prepare<V>(k, args.of_op);
        return detail::Identity<Op>::template prepared<V>();
    }
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Prepared<V> const& channel) {
        return Op::apply(x, channel);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Prepared<V> const& channel) {
        return Op::slope(x, channel);
    }

    FUSEKIT_H static Text name() { return "Optional<" + type_name<Op>() + ">"; }
    FUSEKIT_H static void check(Args const& args, Check const& in) {
        if (args.is_given) Op::check(args.of_op, in);
    }
};

template <>
struct Optional<Scale> : Scale {
    FUSEKIT_H static Args given(Args const& args) { return args; }
    FUSEKIT_H static Args absent() { return {1.0f}; }
    FUSEKIT_H static Text name() { return "Optional<Scale>"; }
};

}  // namespace fusekit::runtime
