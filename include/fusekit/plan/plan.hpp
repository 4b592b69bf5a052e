// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/plan/args.hpp"
#include "fusekit/plan/bound_plan.hpp"
#include "fusekit/plan/evaluate.hpp"
#include "fusekit/plan/is_operator.hpp"
#include "fusekit/plan/name.hpp"
#include "fusekit/plan/structure.hpp"

namespace fusekit {

namespace detail {

template <class... Ops>
struct FusedPlan;

template <bool images, class View>
FUSEKIT_H constexpr void read_view_as_matrices(View& view) {
    constexpr bool remembers = requires { view.from; };
    static_assert(remembers, "views of matrices are fields of type AnyActivations, AnyOutput or OptionalOutput");
    if (!images && view.from.kind != CollapsedFrom::signal) return;
    auto const collapsed = as_matrices({view.layout, view.from});
    view.layout = collapsed.layout(), view.from = collapsed.shape.from;
}

/// For operators after a Gemm or a RowOp: changes each rank-3 view in `args` to a batch of matrices, B x M x N, and, if
/// `images`, each rank-4 view to two batch modes. The constructor of the view assumed a signal, N x C x W, because it
/// does not know the plan.
template <class Op, bool images>
FUSEKIT_H constexpr void read_matrices(typename Op::Args& args) {
    if constexpr (requires { Op::views(args, [](auto&) {}); })
        Op::views(args, [](auto& view) { read_view_as_matrices<images>(view); });
}

/// Class template whose make() builds a BoundPlan from the operators' Args in plan order: those before the head, of the
/// head, and after it (plan/structure.hpp).
template <class... Ops>
struct MakeBound {
    using Slots = Structure<Ops...>;

    FUSEKIT_H static constexpr BoundPlan<FusedPlan<Ops...>> make(typename Ops::Args... args) {
        constexpr bool rows = Slots::head_kind == HeadKind::rows;
        if constexpr (Slots::has_gemm || rows) (detail::read_matrices<Ops, !rows>(args), ...);
        if constexpr (!Fusable<Ops...>) return {{}, {}};
        else if constexpr (Collects<typename Slots::Head>) return {{{args}...}, {}};
        else if constexpr (!Slots::head_is_operator) return {{}, {{args}...}};
        else
            return in_slots({{args}...}, std::make_integer_sequence<int, Slots::prologue_size>{},
                            std::make_integer_sequence<int, Slots::Epilogue::size>{});
    }

private:
    template <int... P, int... E>
    FUSEKIT_H static constexpr BoundPlan<FusedPlan<Ops...>> in_slots(KernelTuple<typename Ops::Args...> const& args,
                                                                     std::integer_sequence<int, P...>,
                                                                     std::integer_sequence<int, E...>) {
        constexpr int head = Slots::prologue_size;
        return {get<head>(args), {{get<head + 1 + E>(args)}...}, {{get<P>(args)}...}};
    }
};

/// bind({.weights = w}, {.bias = b}, {}): one brace group per operator, in plan order. A temporary tensor does not
/// compile as an argument; any other tensor must outlive the runs of the bound plan (BoundPlan).
///
/// bind is a single function: compilers name the field with a wrong initializer only if bind is neither overloaded, a
/// template nor an object. Compilers print the line that declares the name alone, so the comment on that line states
/// the expected arguments.
template <bool Overloaded, class... Ops>
struct Binding {
    FUSEKIT_H static constexpr auto bind(typename Ops::Args... args) {  // one {...} per operator, in order; {} if empty
        return MakeBound<Ops...>::make(args...);
    }
};
/// bind for nvcc, as two overloads. With a single function, nvcc resolves the call when it parses the calling template
/// and then passes g++ a braced argument in parentheses, ({.weights = layer.weights}), which no compiler accepts. nvcc
/// resolves overloads at instantiation.
template <class... Ops>
struct Binding<true, Ops...> {
    FUSEKIT_H static constexpr BoundPlan<FusedPlan<Ops...>> bind(typename Ops::Args... args) {
        return MakeBound<Ops...>::make(args...);
    }
    template <class... Given>
        requires(sizeof...(Given) > 0 && sizeof...(Given) == 0)
    FUSEKIT_H static void bind(Given...);
};

/// Implementation of Plan<Ops...>, y = opN(... op1(x)): a type without data. `bind` returns a plan with arguments.
template <class... Ops>
struct FusedPlan : Structure<Ops...>, private Binding<config::overloads_bind, Ops...> {
    using Slots = Structure<Ops...>;

    /// The Args in `bound` of the operator with index Nth, from 0.
    template <int Nth>
    FUSEKIT_H static constexpr auto const& argument(BoundPlan<FusedPlan> const& bound) {
        constexpr int head = Slots::prologue_size;
        if constexpr (Collects<typename Slots::Head>) return get<Nth>(bound.head);
        else if constexpr (!Slots::head_is_operator) return get<Nth>(bound.epilogue);
        else if constexpr (Nth < head) return get<Nth>(bound.prologue);
        else if constexpr (Nth == head) return bound.head;
        else return get<Nth - head - 1>(bound.epilogue);
    }

    using Binding<config::overloads_bind, Ops...>::bind;

    /// Binds the operators' Args in any order: bind_by_type(Bias::Args{.bias = b}, Relu::Args{}, Conv3x3::Args{.weights
    /// = w})
    template <class... Given>
    [[nodiscard("bind runs nothing: call the bound plan, layer(device, x, y)")]]
    FUSEKIT_H static constexpr BoundPlan<FusedPlan> bind_by_type(Given const&... given) {
        static_cast<void>((belongs_to_plan<Given, Ops...>() && ...));
        return bind(argument_of<Ops>(given...)...);
    }

    /// Result of the plan in a constant expression: static_assert(Plan::evaluate(x, {...}, {...}) == y). For small
    /// tensors: each output is computed by the definition, with one loop per summed index.
    template <class X>
    FUSEKIT_H static constexpr Evaluation evaluate(X const& x, typename Ops::Args const&... args) {
        constexpr bool by_element = Slots::head_kind != HeadKind::reduction && !Slots::of_rows && !Slots::totals_tiles;
        static_assert(by_element,
                      "evaluate() does not compute statistics of a batch or a row: run the plan on a device");
        return detail::evaluate(bind(args...), Slots::collapse(x.const_view()));
    }

    /// Name of the plan: "Plan<Conv<filter(3, 3).pad(1)>, Bias, Activation<Relu>>".
    [[gnu::cold]] FUSEKIT_H static Text name() {
        static constexpr Text (*names[])() = {type_name<Ops>..., nullptr};
        return plan_name(names, sizeof...(Ops));
    }
};

}  // namespace detail

/// Operators composed into one kernel.
///
/// Operators that cannot be composed into one kernel do not compile; the compiler prints the broken rule in one
/// sentence (plan/ordering.hpp). A broken rule is an error, not a substitution failure: in a requires clause, test
/// Fusable<Ops...>.
//
// An alias with assertions, not constraints: compilers print how they reached a constraint before its sentence, at
// least 18 lines in g++ and 13 in clang. The assertion takes 9 and 12, with the sentence first.
template <class... Ops>
using Plan = detail::Checked<detail::FusedPlan<detail::OperatorOrNone<Ops>...>, detail::is_operator<Ops>()...,
                             detail::rules::BrokenBy<Ops...>::type::template require<Ops...>()>;

}  // namespace fusekit
