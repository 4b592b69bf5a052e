// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"

namespace fusekit {

namespace detail {

/// A plan as the rules see it.
template <class... Ops>
struct Stages {
    static constexpr int size = sizeof...(Ops);
    static constexpr Stage at[sizeof...(Ops) + 1] = {Ops::stage..., {}};

    static consteval int count(Stage stage) {
        int found = 0;
        for (int i = 0; i < size; ++i) found += at[i] == stage;
        return found;
    }

    /// Whether, before the Conv or Gemm and after it, each operator of stage `early` stands before all of stage `late`.
    static consteval bool ordered(Stage early, Stage late) {
        bool found = false;
        for (int i = 0; i < size; ++i) {
            if (found && at[i] == early) return false;
            found = at[i] != Stage::mainloop && (found || at[i] == late);
        }
        return true;
    }

    /// Whether, before the Conv or Gemm and after it, there is one operator of this stage at most.
    static consteval bool at_most_one(Stage stage) {
        bool found = false;
        for (int i = 0; i < size; ++i) {
            if (found && at[i] == stage) return false;
            found = at[i] != Stage::mainloop && (found || at[i] == stage);
        }
        return true;
    }

    /// Whether none of this stage stands before the last operator.
    static consteval bool only_last(Stage stage) {
        for (int i = 0; i + 1 < size; ++i)
            if (at[i] == stage) return false;
        return true;
    }
};

template <class Op>
inline constexpr bool fits_tile = true;
template <PoolingOp Op>
inline constexpr bool fits_tile<Op> = Op::fits_tile;

/// Whether an operator is a function of a value and its channel, and does no more than give the result.
template <class Op>
inline constexpr bool fits_prologue =
    (Uniform<Op> || Channelwise<Op>) && !Storing<Op> && !PoolingOp<Op> && !StatisticsOp<Op>;

/// Whether an operator's parameters belong to places of an image.
template <class Op>
inline constexpr bool of_places = Placewise<Op> && !Uniform<Op> && !Channelwise<Op>;

template <class... Ops>
consteval bool prologue_fits() {
    bool before = (MainloopOp<Ops> || ...), fits = true;
    ((before = before && !MainloopOp<Ops>, fits = fits && (!before || fits_prologue<Ops>)), ...);
    return fits;
}

template <class... Ops>
inline constexpr bool reduces_later = false;
template <class First, class... Rest>
inline constexpr bool reduces_later<First, Rest...> = (ReductionOp<Rest> || ...);

}  // namespace detail

template <class... Ops>
concept HasOperators = sizeof...(Ops) > 0;

template <class... Ops>
concept OneHead = detail::Stages<Ops...>::count(Stage::mainloop) <= 1;

template <class... Ops>
concept PrologueFits = detail::prologue_fits<Ops...>();

template <class... Ops>
concept ReductionComesFirst = !detail::reduces_later<Ops...>;

template <class... Ops>
concept OneTotal = !(StatisticsOp<Ops> || ...) || ((StatisticsOp<Ops> + ReductionOp<Ops>)+...) == 1;

template <class... Ops>
concept PoolComesLast = detail::Stages<Ops...>::only_last(Stage::pooling);

template <class... Ops>
concept PoolFits = !(PoolingOp<Ops> || ...) || !(((MainloopOp<Ops> && !(detail::fits_tile<Ops> && ...)) ||
                                                  MatrixOp<Ops> || ReductionOp<Ops> || StatisticsOp<Ops>) ||
                                                 ...);

template <class... Ops>
concept PlacesFit = !(MatrixOp<Ops> || ...) || !(detail::of_places<Ops> || ...);

template <class... Ops>
concept BiasComesEarly = detail::Stages<Ops...>::ordered(Stage::bias, Stage::normalization) &&
                         detail::Stages<Ops...>::ordered(Stage::bias, Stage::activation);

template <class... Ops>
concept NormBeforeActivation = detail::Stages<Ops...>::ordered(Stage::normalization, Stage::activation);

template <class... Ops>
concept OneOfEach =
    detail::Stages<Ops...>::at_most_one(Stage::bias) && detail::Stages<Ops...>::at_most_one(Stage::normalization) &&
    detail::Stages<Ops...>::at_most_one(Stage::activation);

/// Whether these operators, in this order, are one kernel. A yes or a no; Plan says why not.
template <class... Ops>
concept Fusable = (Operator<Ops> && ...) && HasOperators<Ops...> && OneHead<Ops...> && ReductionComesFirst<Ops...> &&
                  PrologueFits<Ops...> && OneTotal<Ops...> && PoolComesLast<Ops...> && PoolFits<Ops...> &&
                  PlacesFit<Ops...> && BiasComesEarly<Ops...> && NormBeforeActivation<Ops...> && OneOfEach<Ops...>;

namespace detail {

/// What is wrong with an operator, where it is none.
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

/// Has a check that does not take what it is given.
template <class Op>
concept NeverChecks =
    requires { &Op::check; } && !requires(typename Op::Args const& args, Check const& in) { Op::check(args, in); };

/// Refuses what is no operator, by its name, in a sentence that says what to write.
template <class Op>
consteval bool is_operator() {
    constexpr bool whole = Operator<Op>, checks = !NeverChecks<Op>;
    if constexpr (whole)
        static_assert(checks, "Op::check is never called as it is: static void check(Args const&, fk::Check const&)");
    else if constexpr (FunctionObject<Op> && !HasArgs<Op>)
        static_assert(whole, "Op is a lambda, and an operator is a struct, with a stage, Args and a static apply");
    else if constexpr (!HasArgs<Op>)
        static_assert(whole, "Op is no operator: it needs a struct Args, empty where it takes none");
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

/// Stands for what is no operator, and has been refused, so that this is the only error.
template <class Op>
struct NoOperator {
    struct Args {};
};
template <class Op>
using OperatorOrNone = std::conditional_t<HasArgs<Op>, Op, NoOperator<Op>>;

/// Refuses what is not one kernel, in the sentence of the first rule that it breaks.
template <class... Ops>
consteval bool is_one_kernel() {
    constexpr bool fusable = Fusable<Ops...>;
    if constexpr (!(Operator<Ops> && ...)) return false;
    else if constexpr (!HasOperators<Ops...>) static_assert(fusable, "a Plan needs at least one operator");
    else if constexpr (!OneHead<Ops...>)
        static_assert(fusable,
                      "a second Conv or Gemm reads its neighbours' results, so it is another kernel: use two Plans");
    else if constexpr (!ReductionComesFirst<Ops...>)
        static_assert(fusable, "batch statistics need every value before the first result: begin a Plan with them");
    else if constexpr (!PrologueFits<Ops...>)
        static_assert(fusable,
                      "operators before a Conv or Gemm are applied to every value that it reads, so they are functions "
                      "of the value and its channel alone: put others into a Plan before it");
    else if constexpr (!OneTotal<Ops...>)
        static_assert(fusable, "a kernel totals its channels once: put further statistics in the next Plan");
    else if constexpr (!PoolComesLast<Ops...>)
        static_assert(fusable, "a pool changes the shape of y, so it is the last operator of a Plan");
    else if constexpr (!PoolFits<Ops...>)
        static_assert(fusable,
                      "no tile of a Conv holds a whole plane, statistics no windows, and a Gemm no images: pool in the "
                      "next Plan");
    else if constexpr (!PlacesFit<Ops...>)
        static_assert(fusable, "a Gemm has no places that a batch shares: parameters after it are those of columns");
    else if constexpr (!BiasComesEarly<Ops...>)
        static_assert(fusable, "Bias shifts the accumulator, so it stands before BatchNorm and Activation");
    else if constexpr (!NormBeforeActivation<Ops...>)
        static_assert(fusable, "BatchNorm normalizes what Activation is applied to, so it stands before Activation");
    else if constexpr (!OneOfEach<Ops...>)
        static_assert(
            fusable,
            "a Plan has at most one Bias, BatchNorm and Activation on either side of a Conv or Gemm: add more "
            "as Stage::pointwise");
    return fusable;
}

/// T, when all has been asked that bears on it. The answers are a pack and not a fold, which g++ 12 does not take in an
/// alias whose operators are the pack of another template.
template <class T, bool...>
using Checked = T;

}  // namespace detail

}  // namespace fusekit
