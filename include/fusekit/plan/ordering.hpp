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

    /// Whether, before the Conv or Gemm and after it, there is one operator of this stage at most: a second one would
    /// stand after the first.
    static consteval bool at_most_one(Stage stage) { return ordered(stage, stage); }

    /// Whether operators of this stage stand last only.
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

template <class Op>
inline constexpr bool divides = true;
template <PoolingOp Op>
inline constexpr bool divides<Op> = Op::divides;

/// Whether an operator is a function of a value and its channel alone, and writes nothing beside its result.
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

/// The rules. Each says whether operators keep it, and asserts so in a sentence, which the README's table repeats. They
/// are asked in the order of BrokenBy. g++ prints the name of the asserted variable, so the name is short.
namespace rules {

template <class... Ops>
struct HasOperators {
    static constexpr bool holds = sizeof...(Ops) > 0;
    static consteval bool require() {
        constexpr bool kept = holds;
        static_assert(kept, "a Plan needs at least one operator");
        return kept;
    }
};

template <class... Ops>
struct OneHead {
    static constexpr bool holds = Stages<Ops...>::count(Stage::mainloop) <= 1;
    static consteval bool require() {
        constexpr bool kept = holds;
        static_assert(kept,
                      "a second Conv or Gemm reads its neighbours' results, so it is another kernel: use two Plans");
        return kept;
    }
};

template <class... Ops>
struct ReductionComesFirst {
    static constexpr bool holds = !reduces_later<Ops...>;
    static consteval bool require() {
        constexpr bool kept = holds;
        static_assert(kept, "batch statistics need every value before the first result: begin a Plan with them");
        return kept;
    }
};

template <class... Ops>
struct PrologueFits {
    static constexpr bool holds = prologue_fits<Ops...>();
    static consteval bool require() {
        constexpr bool kept = holds;
        static_assert(kept,
                      "operators before a Conv or Gemm are applied to every value that it reads, so they are functions "
                      "of the value and its channel alone: put others into a Plan before it");
        return kept;
    }
};

template <class... Ops>
struct OneTotal {
    static constexpr bool holds = !(StatisticsOp<Ops> || ...) || ((StatisticsOp<Ops> + ReductionOp<Ops>)+...) == 1;
    static consteval bool require() {
        constexpr bool kept = holds;
        static_assert(kept, "a kernel totals its channels once: put further statistics in the next Plan");
        return kept;
    }
};

template <class... Ops>
struct TotalsFit {
    static constexpr bool holds = !(BatchedOp<Ops> || ...) || !(StatisticsOp<Ops> || ...);
    static consteval bool require() {
        constexpr bool kept = holds;
        static_assert(
            kept,
            "tiles of a BatchedGemm end where a matrix does, and statistics total whole ones: put them in the "
            "next Plan");
        return kept;
    }
};

template <class... Ops>
struct PoolComesLast {
    static constexpr bool holds = Stages<Ops...>::only_last(Stage::pooling);
    static consteval bool require() {
        constexpr bool kept = holds;
        static_assert(kept, "a pool changes the shape of y, so it is the last operator of a Plan");
        return kept;
    }
};

template <class... Ops>
struct PoolFits {
    static constexpr bool holds =
        !(PoolingOp<Ops> || ...) ||
        !(((MainloopOp<Ops> && !(fits_tile<Ops> && ...)) || MatrixOp<Ops> || ReductionOp<Ops> || StatisticsOp<Ops>) ||
          ...);
    static consteval bool require() {
        constexpr bool kept = holds;
        static_assert(kept,
                      "tiles of a Conv hold windows of Pool<Of, 2, 2> alone, statistics none, and a Gemm no images: "
                      "pool in the next Plan");
        return kept;
    }
};

template <class... Ops>
struct PooledOnce {
    static constexpr bool holds = (divides<Ops> && ...) || !(Storing<Ops> || ...);
    static consteval bool require() {
        constexpr bool kept = holds;
        static_assert(
            kept,
            "windows of a Pool of a filter hold a value several times or never, and a Store writes each once: "
            "pool in the next Plan");
        return kept;
    }
};

template <class... Ops>
struct PlacesFit {
    static constexpr bool holds = !(MatrixOp<Ops> || ...) || !(of_places<Ops> || ...);
    static consteval bool require() {
        constexpr bool kept = holds;
        static_assert(kept, "a Gemm has no places that a batch shares: parameters after it are those of columns");
        return kept;
    }
};

template <class... Ops>
struct BiasComesEarly {
    static constexpr bool holds = Stages<Ops...>::ordered(Stage::bias, Stage::normalization) &&
                                  Stages<Ops...>::ordered(Stage::bias, Stage::activation);
    static consteval bool require() {
        constexpr bool kept = holds;
        static_assert(kept, "Bias shifts the accumulator, so it stands before BatchNorm and Activation");
        return kept;
    }
};

template <class... Ops>
struct NormBeforeActivation {
    static constexpr bool holds = Stages<Ops...>::ordered(Stage::normalization, Stage::activation);
    static consteval bool require() {
        constexpr bool kept = holds;
        static_assert(kept, "BatchNorm normalizes what Activation is applied to, so it stands before Activation");
        return kept;
    }
};

template <class... Ops>
struct OneOfEach {
    static constexpr bool holds = Stages<Ops...>::at_most_one(Stage::bias) &&
                                  Stages<Ops...>::at_most_one(Stage::normalization) &&
                                  Stages<Ops...>::at_most_one(Stage::activation);
    static consteval bool require() {
        constexpr bool kept = holds;
        static_assert(
            kept,
            "a Plan has at most one Bias, BatchNorm and Activation on either side of a Conv or Gemm: add more "
            "as Stage::pointwise");
        return kept;
    }
};

/// Stands for "no rule is broken".
struct None {
    static consteval bool require() { return true; }
};

template <class... Rules>
struct FirstBroken : std::type_identity<None> {};
template <class First, class... Rest>
struct FirstBroken<First, Rest...> : std::conditional_t<First::holds, FirstBroken<Rest...>, std::type_identity<First>> {
};

/// The first rule that operators break. None for a type that is no operator, which is refused as such.
template <class... Ops>
struct BrokenBy : std::type_identity<None> {};
template <class... Ops>
    requires(Operator<Ops> && ...)
struct BrokenBy<Ops...>
    : FirstBroken<HasOperators<Ops...>, OneHead<Ops...>, ReductionComesFirst<Ops...>, PrologueFits<Ops...>,
                  OneTotal<Ops...>, TotalsFit<Ops...>, PoolComesLast<Ops...>, PoolFits<Ops...>, PooledOnce<Ops...>,
                  PlacesFit<Ops...>, BiasComesEarly<Ops...>, NormBeforeActivation<Ops...>, OneOfEach<Ops...>> {};

}  // namespace rules

}  // namespace detail

template <class... Ops>
concept HasOperators = detail::rules::HasOperators<Ops...>::holds;
template <class... Ops>
concept OneHead = detail::rules::OneHead<Ops...>::holds;
template <class... Ops>
concept ReductionComesFirst = detail::rules::ReductionComesFirst<Ops...>::holds;
template <class... Ops>
concept PrologueFits = detail::rules::PrologueFits<Ops...>::holds;
template <class... Ops>
concept OneTotal = detail::rules::OneTotal<Ops...>::holds;
template <class... Ops>
concept TotalsFit = detail::rules::TotalsFit<Ops...>::holds;
template <class... Ops>
concept PoolComesLast = detail::rules::PoolComesLast<Ops...>::holds;
template <class... Ops>
concept PoolFits = detail::rules::PoolFits<Ops...>::holds;
template <class... Ops>
concept PooledOnce = detail::rules::PooledOnce<Ops...>::holds;
template <class... Ops>
concept PlacesFit = detail::rules::PlacesFit<Ops...>::holds;
template <class... Ops>
concept BiasComesEarly = detail::rules::BiasComesEarly<Ops...>::holds;
template <class... Ops>
concept NormBeforeActivation = detail::rules::NormBeforeActivation<Ops...>::holds;
template <class... Ops>
concept OneOfEach = detail::rules::OneOfEach<Ops...>::holds;

/// Whether these operators, in this order, are one kernel. A yes or a no; Plan says why not.
template <class... Ops>
concept Fusable =
    (Operator<Ops> && ...) && std::same_as<typename detail::rules::BrokenBy<Ops...>::type, detail::rules::None>;

namespace detail {

/// T, once all assertions that concern it have been evaluated. The answers are a pack and not a fold, because g++ 12
/// refuses a fold in an alias whose operators are the pack of another template.
template <class T, bool...>
using Checked = T;

}  // namespace detail

}  // namespace fusekit
