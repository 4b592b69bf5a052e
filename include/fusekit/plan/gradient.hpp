// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"
#include "fusekit/plan/check_args.hpp"
#include "fusekit/plan/flops.hpp"
#include "fusekit/plan/name.hpp"
#include "fusekit/plan/reduction.hpp"
#include "fusekit/plan/replay.hpp"
#include "fusekit/tensor/check.hpp"

FUSEKIT_BEGIN_OPERATOR_CALLS

namespace fusekit::detail {

/// Type: struct of optional views to which the gradients of Op's parameters are written; empty if Op has none.
/// `gradient_sums`: number of sums over elements from which these gradients are computed. An operator with
/// store_gradients writes one gradient per element instead of sums.
template <class Op>
struct GradientsOf {
    struct Type {};
};
template <class Op>
    requires requires { typename Op::Gradients; }
struct GradientsOf<Op> {
    using Type = typename Op::Gradients;
};
template <class Op>
    requires(RowOp<Op> && requires { typename Op::Affine::Gradients; })
struct GradientsOf<Op> {
    using Type = typename Op::Affine::Gradients;
};
template <class Op>
consteval int number_of_gradient_sums() {
    if constexpr (requires { Op::gradient_sums; }) return Op::gradient_sums;
    else if constexpr (requires { Op::Affine::gradient_sums; } && RowOp<Op>) return Op::Affine::gradient_sums;
    else return 0;
}
template <class Op>
inline constexpr int gradient_sums = number_of_gradient_sums<Op>();

/// Operator whose save_gradients() and check_gradients() have the parameter gradients of Op: a RowOp's Affine, else Op.
template <class Op>
using ParametersOf = std::conditional_t<RowOp<Op>, Replayed<Op>, Op>;

/// Type: function object that maps dy to dx for an operator with batch statistics, after the sums over the batch are
/// complete; Nothing for other operators.
template <class Op, class V>
struct ProjectionOf {
    using Type = Nothing;
};
template <class Op, class V>
    requires ReductionOp<Op>
struct ProjectionOf<Op, V> {
    using Type = typename Op::template Projection<V>;
};

/// Equation that describe() prints for a Backward plan whose first operator is First. BatchNormTraining states its own,
/// because every dx depends on all x.
template <class First>
consteval char const* gradient_equation() {
    if constexpr (requires { First::gradient_equation; }) return First::gradient_equation;
    else return ReductionOp<First> ? "" : "dx = dy * slopes of the plan at x";
}

/// Number of forward operators whose results a backward pass must recompute, because a later operator's slope is
/// evaluated at them: all operators before the last one that has a slope other than 1 (is not a Passing<Op>,
/// plan/replay.hpp).
template <class... Ops>
consteval int values_needed() {
    int needed = 0, number = 0;
    ((needed = is_passing<Replayed<Ops>> ? needed : number, ++number), ...);
    return needed;
}

template <class Op, class V, class At, class State>
FUSEKIT_HD constexpr V slope_op(V x, At const& at, State const& state, typename Op::Args const& args) {
    return in_form_of<Op>([](auto const&... given) { return Op::slope(given...); }, x, at, state, args);
}

/// The one operator of a Backward plan: multiplies dy by the slopes of the forward plan's operators Ops, which it
/// evaluates at values recomputed from x.
template <class... Ops>
struct Gradient {
    static constexpr auto stage = Stage::pointwise;
    static constexpr auto equation = gradient_equation<TypeAt<0, Ops...>>();
    struct Args {
        KernelTuple<typename Replayed<Ops>::Args...> forward;
        AnyActivations x;
        KernelTuple<typename GradientsOf<Ops>::Type...> gradients;
    };

    static constexpr bool of_rows = RowOp<TypeAt<0, Ops...>>;  ///< dx depends on all values of a row
    static constexpr int sums = (0 + ... + gradient_sums<Ops>);
    static constexpr bool per_pixel = (totals_per_pixel<Ops>() || ...);

    /// Sums for the parameter gradients of one channel (or pixel): `sums` numbers. The Totals of two sets of elements
    /// merge by addition.
    template <class V>
    struct Total {
        V value[static_cast<std::size_t>(sums > 0 ? sums : 1)]{};

        FUSEKIT_HD constexpr void start(V) {}
        FUSEKIT_HD constexpr Total total(V) const { return *this; }
        template <std::size_t Count, class Sum>
        FUSEKIT_HD static constexpr void combine(Total (&of)[Count], Sum const& sum) {
            constexpr auto each = static_cast<std::size_t>(sums);
            V all[Count * each];
            for (std::size_t i = 0; i < Count * each; ++i) all[i] = of[i / each].value[i % each];
            sum(all);
            for (std::size_t i = 0; i < Count * each; ++i) of[i / each].value[i % each] = all[i];
        }
        FUSEKIT_HD friend constexpr Total merge(Total a, Total const& b) {
            for (int i = 0; i < sums; ++i) a.value[i] += b.value[i];
            return a;
        }
    };

    FUSEKIT_H static Text name() {
        Text text;
        ((text += (text.empty() ? "Gradient<" : ", ") + type_name<Ops>()), ...);
        return text + ">";
    }

    /// FLOPs of the recomputed values and of each operator's gradient, counted once, although a backend may recompute
    /// the values in a second pass over x after the sums are complete.
    FUSEKIT_H static double flops(Index<4> const& y, Args const& args) {
        return [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            double const again =
                (0.0 + ... +
                 (Nth < values_needed<Ops...>() ? flops_of<Replayed<Ops>>(y, get<Nth>(args.forward)) : 0.0));
            return again + (0 + ... + gradient_flops<Ops>()) * elements(y);
        }(std::make_integer_sequence<int, sizeof...(Ops)>{});
    }

    FUSEKIT_H static void check(Args const& args, Check const& in) {
        if (args.x.type != in.type) in.fail("x", Text(fusekit::name(in.type)) + ", as dy", fusekit::name(args.x.type));
        in.readable("x", args.x, in.x, "N x C x H x W", Access::read_in_place);
        [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            (check_one<Ops>(get<Nth>(args.forward), get<Nth>(args.gradients), in), ...);
        }(std::make_integer_sequence<int, sizeof...(Ops)>{});
    }

private:
    template <class Op>
    FUSEKIT_H static void check_one(typename Replayed<Op>::Args const& args,
                                    typename GradientsOf<Op>::Type const& gradients, Check const& in) {
        using Parameters = ParametersOf<Op>;
        Check own = in;
        own.operator_name = type_name<Op>;
        check_args<std::conditional_t<RowOp<Op>, Op, Replayed<Op>>>(args, own);
        if constexpr (requires { Parameters::check_gradients(gradients, own); })
            Parameters::check_gradients(gradients, own);
        if constexpr (per_pixel && gradient_sums<Op> > 0 && !totals_per_pixel<Op>())
            if (gradients.any())
                own.fail("gradients",
                         "none: this plan sums over the batch for each pixel; sum dx over the pixels instead",
                         "a view of K");
    }
};

template <class First, class... Rest>
struct ReductionSteps<Gradient<First, Rest...>> {
    using Head = Gradient<First, Rest...>;
    using Args = typename Head::Args;
    using States = Epilogue<Replayed<First>, Replayed<Rest>...>;
    template <class V>
    using Total = typename Head::template Total<V>;
    template <class V>
    using Accumulator = Total<V>;

    static constexpr bool per_pixel = Head::per_pixel, has_operand = true, has_totals = Head::sums > 0;
    static constexpr bool waits = ReductionOp<First>;

    FUSEKIT_HD static constexpr typename States::Args const& state_args(Args const& args) { return args.forward; }
    FUSEKIT_HD static constexpr typename States::PixelState prepare(OutputCoord const& at, Args const& args) {
        return States::prepare(at, args.forward);
    }

    template <class V, class At, class State, class Mask = bool>
    FUSEKIT_HD static constexpr V add(Total<V>& total, V dy, V x, At const& at, State const& state, Args const& args,
                                      Mask counts = true) {
        Total<V> own{};
        V const g = back<true, 0, 0, Replayed<First>, Replayed<Rest>...>(x, dy, at, state, args, own.value);
        for (int i = 0; i < Head::sums; ++i) total.value[i] += math::select(counts, own.value[i], V{});
        return g;
    }
    template <class V>
    FUSEKIT_HD static constexpr void save(Total<V> const& total, OutputCoord const& at, Args const& args) {
        save_from<0, 0, First, Rest...>(total.value, at, args);
    }
    template <class V>
    using Prepared = typename ProjectionOf<First, V>::Type;
    template <class V, class State>
    FUSEKIT_HD static constexpr Prepared<V> finish(Total<V> const& total, std::int64_t count, State const&,
                                                   OutputCoord const& at, Args const& args) {
        if constexpr (waits) return First::finish_gradients(total.value, count, at, get<0>(args.forward));
        else return {};
    }
    template <class V, class At, class State>
    FUSEKIT_HD static constexpr V apply(V dy, V x, At const& at, State const& state, Prepared<V> const& prepared,
                                        Args const& args) {
        V* const no_sums = nullptr;
        V const g = back<false, 0, 0, Replayed<First>, Replayed<Rest>...>(x, dy, at, state, args, no_sums);
        if constexpr (!waits) return g;
        else if constexpr (Pixelwise<Replayed<First>, V, At> && per_pixel && !std::is_same_v<V, float>)
            return prepared.apply(x, g, Replayed<First>::prepare(at, get<0>(args.forward)));
        else return prepared.apply(x, g, get<0>(state));
    }

private:
    /// Returns dL/dx at the input x of the operator with index Nth, given dy = dL/dy of the plan's output: the product
    /// of the later operators' slopes, by recursion, times slope(x). With `adds`, adds the operators' terms to their
    /// parameter-gradient sums, from sums[Sum] on; without it, calls store_gradients. If operator 0 has batch
    /// statistics, its slope is left to its Projection. An operator with propagate(x, dy, prepared) computes dL/dx
    /// itself: its result also depends on x through statistics that are its arguments.
    template <bool adds, int Nth, int Sum, class Op, class... More, class V, class At, class State>
    FUSEKIT_HD static constexpr V back(V x, V dy, At const& at, State const& state, Args const& args, V* sums) {
        auto const& own = get<Nth>(state);
        if constexpr (sizeof...(More) > 0)
            dy = back<adds, Nth + 1, Sum + gradient_sums<Op>, More...>(apply_op<Op>(x, at, own, get<Nth>(args.forward)),
                                                                       dy, at, state, args, sums);
        if constexpr (adds && gradient_sums<Op> > 0) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(own)>, Nothing>)
                Op::add_gradients(sums + Sum, x, dy, Op::prepare(at, get<Nth>(args.forward)));
            else Op::add_gradients(sums + Sum, x, dy, own);
        }
        if constexpr (!adds) store_one<Op>(x, dy, at, get<Nth>(args.forward), get<Nth>(args.gradients));
        if constexpr (Nth == 0 && waits) return dy;
        else if constexpr (requires { Op::propagate(x, dy, own); }) return Op::propagate(x, dy, own);
        else return dy * slope_op<Op>(x, at, own, get<Nth>(args.forward));
    }

    /// Calls Op::store_gradients, if Op has one: with (dy, ...) or, if the gradients depend on Op's input, (x, dy,
    /// ...).
    template <class Op, class V, class At>
    FUSEKIT_HD static constexpr void store_one(V x, V dy, At const& at, typename Op::Args const& args,
                                               auto const& gradients) {
        if constexpr (requires { Op::store_gradients(x, dy, at, args, gradients); })
            Op::store_gradients(x, dy, at, args, gradients);
        else if constexpr (requires { Op::store_gradients(dy, at, args, gradients); })
            Op::store_gradients(dy, at, args, gradients);
    }

    template <int Nth, int Sum, class Op, class... More, class V>
    FUSEKIT_HD static constexpr void save_from(V const* sums, OutputCoord const& at, Args const& args) {
        if constexpr (gradient_sums<Op> > 0)
            ParametersOf<Op>::save_gradients(sums + Sum, at, get<Nth>(args.forward), get<Nth>(args.gradients));
        if constexpr (sizeof...(More) > 0) save_from<Nth + 1, Sum + gradient_sums<Op>, More...>(sums, at, args);
    }
};

}  // namespace fusekit::detail

FUSEKIT_END_OPERATOR_CALLS
