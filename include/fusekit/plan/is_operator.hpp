// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"
#include "fusekit/plan/other_names.hpp"

namespace fusekit {

namespace detail {

/// Concepts, one for each requirement on an operator, so that is_operator() can name the one that is not met.
template <class Op>
concept HasArgs = requires { typename Op::Args; };
template <class Op>
concept HasStage = requires {
    { Op::stage } -> std::convertible_to<Stage>;
};
template <class Op>
concept FunctionObject = requires { &Op::operator(); } || requires(Op op, float x) { op(x); };
template <class Op>
concept Prepares = requires { typename Op::template Prepared<float>; } || requires { &Op::prepare; };
template <class Op>
concept AppliesAny = requires(float x, typename Op::Args const& args) {
    Op::apply(x, args);
} || requires(float x, OutputCoord const& at, typename Op::Args const& args) { Op::apply(x, at, args); };
template <class Op>
concept AppliesAsObject =
    !AppliesAny<Op> && requires(Op op, float x, OutputCoord const& at, typename Op::Args const& args) {
        requires requires { op.apply(x, args); } || requires { op.apply(x, at, args); };
    };

/// True for a type whose static member check cannot be called with (Args const&, Check const&).
template <class Op>
concept NeverChecks =
    requires { &Op::check; } && !requires(typename Op::Args const& args, Check const& in) { Op::check(args, in); };

/// Fails a static_assert if Op is not an operator; the message names the missing member and the fix.
template <class Op>
consteval bool is_operator() {
    constexpr bool whole = Operator<Op>, checks = !NeverChecks<Op>;
    if constexpr (requires { Op::other_name; }) {
        constexpr OtherName name = Op::other_name;
        static_assert(name != OtherName::conv, "write fk::Conv<fk::filter(r, s).pad(p).stride(u)>");
        static_assert(name != OtherName::transposed_conv,
                      "write fk::TransposedConv<fk::filter(r, s).pad(p).stride(u)>");
        static_assert(name != OtherName::max_pool, "write fk::Pool<fk::Max, fk::filter(r, s).pad(p).stride(u)>");
        static_assert(
            name != OtherName::average_pool,
            "write fk::Pool<fk::Average, fk::filter(r, s).pad(p).stride(u)>, or fk::AverageWithPadding to count "
            "padding");
        static_assert(name != OtherName::batch_norm,
                      "write fk::BatchNormInference<fk::Spatial> or fk::BatchNormTraining<fk::Spatial>");
    } else if constexpr (whole)
        static_assert(checks, "Op::check must be static void check(Args const&, fk::Check const&)");
    else if constexpr (FunctionObject<Op> && !HasArgs<Op>)
        static_assert(whole, "Op is a lambda: write a struct with a stage, Args and a static apply");
    else if constexpr (!HasArgs<Op>)
        static_assert(whole, "Op is not an operator: it needs a public struct Args, which may be empty");
    else if constexpr (!HasStage<Op>)
        static_assert(whole,
                      "Op has no stage: for an activation's mode write Activation<Op>, "
                      "else give it static constexpr auto stage = fk::Stage::pointwise");
    else if constexpr (!std::is_trivially_copyable_v<typename Op::Args>)
        static_assert(whole, "Op::Args must be trivially copyable: numbers and views, and nothing that owns memory");
    else if constexpr (AppliesAsObject<Op>)
        static_assert(whole, "Op::apply must be static: an operator has no object, and what it needs comes in Args");
    else if constexpr (Prepares<Op>)
        static_assert(whole,
                      "Op::prepare(k, args) must give Prepared<float>, of a template struct Prepared of nothing but "
                      "floats, and apply(V x, Prepared<V> const&) must give V");
    else if constexpr (AppliesAny<Op>)
        static_assert(whole, "Op::apply must give the type of x, float or V: a constant such as 2.0 makes it double");
    else
        static_assert(whole,
                      "Op::apply must take one value: (V x, Args const&), (V x, At const& at, Args const&), or, "
                      "beside prepare(k, args), (V x, Prepared<V> const&)");
    return whole;
}

/// Operator that replaces an invalid type in a plan, so that is_operator()'s message is the only error.
template <class Op>
struct NoOperator {
    struct Args {};
};
template <class Op>
using OperatorOrNone = std::conditional_t<HasArgs<Op>, Op, NoOperator<Op>>;

}  // namespace detail

}  // namespace fusekit
