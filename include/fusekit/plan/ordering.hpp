// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/plan/sequence.hpp"

namespace fusekit {

namespace detail {

/// The ordering rules of a plan's operators, tested in the order of InOrder. Each rule has `holds`, which tests a
/// sequence of operators, and its reason in one sentence, which docs/grammar.md repeats. The sentence is both in the
/// rule and in its static_assert, because static_assert accepts only a literal. Asserted variables have short names,
/// because g++ 12 prints them.
namespace rules {

struct HasOperators {
    static constexpr auto sentence = "a Plan needs at least one operator";
    FUSEKIT_H static constexpr bool holds(Sequence plan) { return plan.size > 0; }
    template <class... Ops>
    static consteval bool require() {
        constexpr bool kept = holds(sequence_of<Ops...>());
        static_assert(kept, "a Plan needs at least one operator");
        return kept;
    }
};

struct OneHead {
    static constexpr auto sentence =
        "a second Conv or Gemm reads the whole output of the first, so it is another kernel: use two Plans";
    FUSEKIT_H static constexpr bool holds(Sequence plan) { return plan.count(Stage::mainloop) <= 1; }
    template <class... Ops>
    static consteval bool require() {
        constexpr bool kept = holds(sequence_of<Ops...>());
        static_assert(
            kept, "a second Conv or Gemm reads the whole output of the first, so it is another kernel: use two Plans");
        return kept;
    }
};

struct ReductionComesFirst {
    static constexpr auto sentence =
        "statistics, norms, upsampling and gradients of pools read several values for each result: begin a Plan with "
        "them; only operators that map one value to one value, but no Amax, may precede a norm of rows";
    FUSEKIT_H static constexpr bool holds(Sequence plan) {
        bool only_values = true;  // the operators so far map one value to one value
        for (int i = 0; i < plan.size; ++i) {
            if (i > 0 && plan.at[i].reduces && !(plan.at[i].of_rows && only_values)) return false;
            only_values = only_values && plan.at[i].before_rows;
        }
        return true;
    }
    template <class... Ops>
    static consteval bool require() {
        constexpr bool kept = holds(sequence_of<Ops...>());
        static_assert(kept,
                      "statistics, norms, upsampling and gradients of pools read several values for each result: begin "
                      "a Plan with them; only operators that map one value to one value, but no Amax, may precede a "
                      "norm of rows");
        return kept;
    }
};

struct PrologueFits {
    static constexpr auto sentence =
        "operators before a Conv or Gemm are applied to every value that it reads, so they are functions of the value "
        "and its channel alone: put others into a Plan before it";
    FUSEKIT_H static constexpr bool holds(Sequence plan) {
        for (int i = 0, head = plan.first_head(); i < head; ++i)
            if (!plan.at[i].fits_prologue) return false;
        return true;
    }
    template <class... Ops>
    static consteval bool require() {
        constexpr bool kept = holds(sequence_of<Ops...>());
        static_assert(kept,
                      "operators before a Conv or Gemm are applied to every value that it reads, so they are functions "
                      "of the value and its channel alone: put others into a Plan before it");
        return kept;
    }
};

struct OneTotal {
    static constexpr auto sentence =
        "a kernel computes channel statistics once: put further statistics in the next Plan";
    FUSEKIT_H static constexpr bool holds(Sequence plan) {
        int const statistics = plan.count(&OperatorFacts::totals), reductions = plan.count(&OperatorFacts::reduces);
        return statistics == 0 || statistics + reductions == 1;
    }
    template <class... Ops>
    static consteval bool require() {
        constexpr bool kept = holds(sequence_of<Ops...>());
        static_assert(kept, "a kernel computes channel statistics once: put further statistics in the next Plan");
        return kept;
    }
};

struct TotalsFit {
    static constexpr auto sentence =
        "statistics are not valid after a BatchedGemm, whose tiles end with each matrix, nor MergedStatistics after a "
        "Conv or Gemm: put them in the next Plan";
    FUSEKIT_H static constexpr bool holds(Sequence plan) {
        return (!plan.any(&OperatorFacts::batched) || !plan.any(&OperatorFacts::totals)) &&
               (!plan.any(&OperatorFacts::head) || !plan.any(&OperatorFacts::totals_x));
    }
    template <class... Ops>
    static consteval bool require() {
        constexpr bool kept = holds(sequence_of<Ops...>());
        static_assert(kept,
                      "statistics are not valid after a BatchedGemm, whose tiles end with each matrix, nor "
                      "MergedStatistics after a Conv or Gemm: put them in the next Plan");
        return kept;
    }
};

struct PoolComesLast {
    static constexpr auto sentence = "a pool changes the shape of y, so it is the last operator of a Plan";
    FUSEKIT_H static constexpr bool holds(Sequence plan) { return plan.only_last(Stage::pooling); }
    template <class... Ops>
    static consteval bool require() {
        constexpr bool kept = holds(sequence_of<Ops...>());
        static_assert(kept, "a pool changes the shape of y, so it is the last operator of a Plan");
        return kept;
    }
};

struct PoolFits {
    static constexpr auto sentence =
        "after a Conv only Pool<Of, 2, 2> is valid, and after statistics or a Gemm no pool: pool in the next Plan";
    FUSEKIT_H static constexpr bool holds(Sequence plan) {
        bool const fits = !plan.any(&OperatorFacts::head) || !plan.any(&OperatorFacts::exceeds_tile);
        return !plan.any(&OperatorFacts::pools) ||
               (fits && !plan.any(&OperatorFacts::of_matrices) && !plan.any(&OperatorFacts::reduces) &&
                !plan.any(&OperatorFacts::totals));
    }
    template <class... Ops>
    static consteval bool require() {
        constexpr bool kept = holds(sequence_of<Ops...>());
        static_assert(
            kept,
            "after a Conv only Pool<Of, 2, 2> is valid, and after statistics or a Gemm no pool: pool in the next Plan");
        return kept;
    }
};

struct PooledOnce {
    static constexpr auto sentence =
        "Store and Amax cannot precede a Pool whose windows overlap or leave gaps: pool in the next Plan";
    FUSEKIT_H static constexpr bool holds(Sequence plan) {
        return !plan.any(&OperatorFacts::overlaps) || !plan.any(&OperatorFacts::stores);
    }
    template <class... Ops>
    static consteval bool require() {
        constexpr bool kept = holds(sequence_of<Ops...>());
        static_assert(
            kept, "Store and Amax cannot precede a Pool whose windows overlap or leave gaps: pool in the next Plan");
        return kept;
    }
};

struct PixelParametersFit {
    static constexpr auto sentence = "per-pixel parameters are not valid after a Gemm: pass one per column";
    FUSEKIT_H static constexpr bool holds(Sequence plan) {
        return !plan.any(&OperatorFacts::of_matrices) || !plan.any(&OperatorFacts::of_pixels);
    }
    template <class... Ops>
    static consteval bool require() {
        constexpr bool kept = holds(sequence_of<Ops...>());
        static_assert(kept, "per-pixel parameters are not valid after a Gemm: pass one per column");
        return kept;
    }
};

struct BiasComesEarly {
    static constexpr auto sentence = "Bias shifts the accumulator, so it stands before BatchNorm and Activation";
    FUSEKIT_H static constexpr bool holds(Sequence plan) {
        return plan.ordered(Stage::bias, Stage::normalization) && plan.ordered(Stage::bias, Stage::activation);
    }
    template <class... Ops>
    static consteval bool require() {
        constexpr bool kept = holds(sequence_of<Ops...>());
        static_assert(kept, "Bias shifts the accumulator, so it stands before BatchNorm and Activation");
        return kept;
    }
};

struct NormBeforeActivation {
    static constexpr auto sentence =
        "BatchNorm normalizes what Activation is applied to, so it stands before Activation";
    FUSEKIT_H static constexpr bool holds(Sequence plan) {
        return plan.ordered(Stage::normalization, Stage::activation);
    }
    template <class... Ops>
    static consteval bool require() {
        constexpr bool kept = holds(sequence_of<Ops...>());
        static_assert(kept, "BatchNorm normalizes what Activation is applied to, so it stands before Activation");
        return kept;
    }
};

struct OneOfEach {
    static constexpr auto sentence =
        "a Plan has at most one Bias, BatchNorm and Activation on either side of a Conv or Gemm: add more as "
        "Stage::pointwise";
    FUSEKIT_H static constexpr bool holds(Sequence plan) {
        return plan.at_most_one(Stage::bias) && plan.at_most_one(Stage::normalization) &&
               plan.at_most_one(Stage::activation);
    }
    template <class... Ops>
    static consteval bool require() {
        constexpr bool kept = holds(sequence_of<Ops...>());
        static_assert(kept,
                      "a Plan has at most one Bias, BatchNorm and Activation on either side of a Conv or Gemm: add "
                      "more as Stage::pointwise");
        return kept;
    }
};

/// Substitute for a broken rule where every rule holds; its require() asserts nothing.
struct NoRule {
    template <class... Ops>
    static consteval bool require() {
        return true;
    }
};

template <class... Rules>
struct List {
    template <class... Ops>
    struct BrokenBy : std::type_identity<NoRule> {};
};
template <class First, class... Rest>
struct List<First, Rest...> {
    template <class... Ops>
    struct BrokenBy : std::conditional_t<First::holds(sequence_of<Ops...>()),
                                         typename List<Rest...>::template BrokenBy<Ops...>, std::type_identity<First>> {
    };
};

using InOrder = List<HasOperators, OneHead, ReductionComesFirst, PrologueFits, OneTotal, TotalsFit, PoolComesLast,
                     PoolFits, PooledOnce, PixelParametersFit, BiasComesEarly, NormBeforeActivation, OneOfEach>;

/// Type: the first rule of InOrder that the sequence Ops breaks; NoRule if all hold, or if one of Ops is not an
/// operator, for which is_operator()'s static_asserts have the message.
template <class... Ops>
struct BrokenBy : std::type_identity<NoRule> {};
template <class... Ops>
    requires(Operator<Ops> && ...)
struct BrokenBy<Ops...> : InOrder::BrokenBy<Ops...> {};

}  // namespace rules

}  // namespace detail

template <class... Ops>
concept HasOperators = detail::rules::HasOperators::holds(detail::sequence_of<Ops...>());
template <class... Ops>
concept OneHead = detail::rules::OneHead::holds(detail::sequence_of<Ops...>());
template <class... Ops>
concept ReductionComesFirst = detail::rules::ReductionComesFirst::holds(detail::sequence_of<Ops...>());
template <class... Ops>
concept PrologueFits = detail::rules::PrologueFits::holds(detail::sequence_of<Ops...>());
template <class... Ops>
concept OneTotal = detail::rules::OneTotal::holds(detail::sequence_of<Ops...>());
template <class... Ops>
concept TotalsFit = detail::rules::TotalsFit::holds(detail::sequence_of<Ops...>());
template <class... Ops>
concept PoolComesLast = detail::rules::PoolComesLast::holds(detail::sequence_of<Ops...>());
template <class... Ops>
concept PoolFits = detail::rules::PoolFits::holds(detail::sequence_of<Ops...>());
template <class... Ops>
concept PooledOnce = detail::rules::PooledOnce::holds(detail::sequence_of<Ops...>());
template <class... Ops>
concept PixelParametersFit = detail::rules::PixelParametersFit::holds(detail::sequence_of<Ops...>());
/// Former name of PixelParametersFit, until the next release.
template <class... Ops>
concept PlacesFit = PixelParametersFit<Ops...>;
template <class... Ops>
concept BiasComesEarly = detail::rules::BiasComesEarly::holds(detail::sequence_of<Ops...>());
template <class... Ops>
concept NormBeforeActivation = detail::rules::NormBeforeActivation::holds(detail::sequence_of<Ops...>());
template <class... Ops>
concept OneOfEach = detail::rules::OneOfEach::holds(detail::sequence_of<Ops...>());

/// True if Plan<Ops...> is valid: each of Ops is an operator, and no ordering rule is broken. If false, Plan<Ops...>
/// does not compile and its message gives the reason.
template <class... Ops>
concept Fusable =
    (Operator<Ops> && ...) && std::same_as<typename detail::rules::BrokenBy<Ops...>::type, detail::rules::NoRule>;

namespace detail {

/// Alias of T that also instantiates the static_asserts of T's validity: the bools are results of consteval functions
/// with static_asserts. A pack of bools and not a fold expression, because g++ 12 rejects a fold in an alias whose
/// operators are the pack of another template.
template <class T, bool...>
using Checked = T;

}  // namespace detail

}  // namespace fusekit
