// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/plan/plan.hpp"
#include "fusekit/plan/reduction.hpp"

namespace fusekit {

namespace detail {

template <class Op>
struct GradientsOf {
    struct Type {};
    static constexpr int sums = 0;
};
template <class Op>
    requires requires { typename Op::Gradients; }
struct GradientsOf<Op> {
    using Type = typename Op::Gradients;
    static constexpr int sums = Op::gradient_sums;
};

/// The operator after the forward run: what batch statistics were is saved, and read again.
template <class Op>
struct ReplayedOf {
    using Type = Op;
};
template <class Op>
    requires ReductionOp<Op>
struct ReplayedOf<Op> {
    using Type = typename Op::Saved;
};

/// What the gradient of batch statistics takes from dy, when all is totalled.
template <class Op, class V>
struct ProjectionOf {
    using Type = Nothing;
};
template <class Op, class V>
    requires ReductionOp<Op>
struct ProjectionOf<Op, V> {
    using Type = typename Op::template Projection<V>;
};

/// Refuses a Conv, and an operator without a slope, in one sentence each.
template <class... Ops>
consteval bool has_no_conv() {
    constexpr bool pointwise = !Fused<Ops...>::has_conv;
    static_assert(pointwise, "Backward: a Conv's gradients are convolutions of their own, other plans");
    return true;
}
template <class Op>
consteval bool differentiable() {
    constexpr bool has_slope = MainloopOp<Op> || Differentiable<typename ReplayedOf<Op>::Type>;
    static_assert(has_slope, "Backward: this operator (Op) of the plan has no slope, in the form of its apply");
    return true;
}

template <class Op>
consteval bool sums_per_place() {
    if constexpr (requires { Op::per_place; }) return Op::per_place;
    else return false;
}

template <class Op, class V, class At, class State>
FUSEKIT_HD constexpr V slope_op(V x, At const& at, State const& state, typename Op::Args const& args) {
    if constexpr (!std::is_same_v<State, Nothing>) return Op::slope(x, state);
    else if constexpr (Placewise<Op, V, At>) return Op::slope(x, Op::prepare(at, args));
    else if constexpr (Uniform<Op, V>) return Op::slope(x, args);
    else if constexpr (Located<Op, V, At>) return Op::slope(x, at, args);
    else {
        for (int lane = 0; lane < at.count; ++lane) {
            if constexpr (Uniform<Op>) x[lane] = Op::slope(static_cast<float>(x[lane]), args);
            else x[lane] = Op::slope(static_cast<float>(x[lane]), at.lane(lane), args);
        }
        return x;
    }
}

}  // namespace detail

/// The operator that a Backward plan consists of: from dy to dx, through the slopes of Ops at what they computed from
/// x.
template <class... Ops>
struct Gradient {
    static constexpr auto stage = Stage::pointwise;
    static constexpr auto equation = "dx = dy * slopes of the plan at x";
    struct Args {
        Pack<typename Ops::Args...> forward;
        AnyActivations x;
        Pack<typename detail::GradientsOf<Ops>::Type...> gradients;
    };

    static constexpr int sums = (0 + ... + detail::GradientsOf<Ops>::sums);
    static constexpr bool per_place = (detail::sums_per_place<Ops>() || ...);

    /// Sums, which need no more than to be added up.
    template <class V>
    struct Total {
        V value[sums > 0 ? sums : 1]{};

        FUSEKIT_HD constexpr void start(V) {}
        FUSEKIT_HD constexpr void join(Total const& other) { *this = merge(*this, other); }
        FUSEKIT_HD constexpr Total total(V) const { return *this; }
        template <int Count, class Sum>
        FUSEKIT_HD static constexpr void combine(Total (&of)[Count], Sum const& sum) {
            V all[Count * sums];
            for (int i = 0; i < Count * sums; ++i) all[i] = of[i / sums].value[i % sums];
            sum(all);
            for (int i = 0; i < Count * sums; ++i) of[i / sums].value[i % sums] = all[i];
        }
        FUSEKIT_HD friend constexpr Total merge(Total a, Total const& b) {
            for (int i = 0; i < sums; ++i) a.value[i] += b.value[i];
            return a;
        }
    };

    static Text name() {
        Text text;
        ((text += (text.empty() ? "Gradient<" : ", ") + type_name<Ops>()), ...);
        return text + ">";
    }

    static void check(Args const& args, Check const& in) {
        if (args.x.type != in.type) in.fail("x", Text(fusekit::name(in.type)) + ", as dy", fusekit::name(args.x.type));
        in.readable("x", args.x, in.x, "N x C x H x W");
        [&]<int... I>(std::integer_sequence<int, I...>) {
            (check_one<Ops>(get<I>(args.forward), get<I>(args.gradients), in), ...);
        }(std::make_integer_sequence<int, sizeof...(Ops)>{});
    }

private:
    template <class Op>
    static void check_one(typename Op::Args const& args, typename detail::GradientsOf<Op>::Type const& gradients,
                          Check const& in) {
        Check own = in;
        own.operator_name = type_name<Op>;
        if constexpr (requires { Op::check(args, own); }) Op::check(args, own);
        if constexpr (requires { Op::check_gradients(gradients, own); }) Op::check_gradients(gradients, own);
        if constexpr (ReductionOp<Op>) {
            if (!args.saved_mean.given()) own.fail("saved_mean", "what the forward run has saved", "nothing");
            if (!args.saved_inverse_deviation.given())
                own.fail("saved_inverse_deviation", "what the forward run has saved", "nothing");
        }
        if constexpr (per_place && detail::GradientsOf<Op>::sums > 0 && !detail::sums_per_place<Op>())
            if (gradients.any())
                own.fail("gradients", "none: this plan sums over the batch, place by place; sum dx over places instead",
                         "a view of K");
    }
};

template <class First, class... Rest>
struct ReductionSteps<Gradient<First, Rest...>> {
    using Head = Gradient<First, Rest...>;
    using Args = typename Head::Args;
    using States = Epilogue<typename detail::ReplayedOf<First>::Type, Rest...>;
    template <class V>
    using Total = typename Head::template Total<V>;
    template <class V>
    using Running = Total<V>;

    static constexpr bool per_place = Head::per_place, has_operand = true, has_totals = Head::sums > 0;
    static constexpr bool waits = ReductionOp<First>;

    FUSEKIT_HD static constexpr typename States::Args const& state_args(Args const& args) { return args.forward; }
    FUSEKIT_HD static constexpr typename States::PlaceState prepare(OutputCoord const& at, Args const& args) {
        return States::prepare(at, args.forward);
    }

    template <class V, class At, class State>
    FUSEKIT_HD static constexpr void add(Total<V>& total, V dy, V x, At const& at, State const& state, Args const& args,
                                         bool counts = true) {
        Total<V> own{};
        back<true, 0, 0, Replayed<First>, Rest...>(x, dy, at, state, args, own.value);
        for (int i = 0; i < Head::sums; ++i) total.value[i] += counts ? own.value[i] : V{};
    }
    template <class V>
    FUSEKIT_HD static constexpr void save(Total<V> const& total, OutputCoord const& at, Args const& args) {
        save_from<0, 0, First, Rest...>(total.value, at, args);
    }
    template <class V>
    using Prepared = typename detail::ProjectionOf<First, V>::Type;
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
        V const g = back<false, 0, 0, Replayed<First>, Rest...>(x, dy, at, state, args, no_sums);
        if constexpr (!waits) return g;
        else if constexpr (Placewise<Replayed<First>, V, At> && per_place && !std::is_same_v<V, float>)
            return prepared.apply(x, g, Replayed<First>::prepare(at, get<0>(args.forward)));
        else return prepared.apply(x, g, get<0>(state));
    }

private:
    template <class Op>
    using Replayed = typename detail::ReplayedOf<Op>::Type;

    /// What dy, of the operators from number I on, is to the input x of that operator; batch statistics' own slope is
    /// left to Projection. Adds to the sums of their parameters' gradients, which begin at number Sum.
    template <bool adds, int I, int Sum, class Op, class... More, class V, class At, class State>
    FUSEKIT_HD static constexpr V back(V x, V dy, At const& at, State const& state, Args const& args, V* sums) {
        auto const& own = get<I>(state);
        if constexpr (sizeof...(More) > 0)
            dy = back<adds, I + 1, Sum + detail::GradientsOf<Op>::sums, More...>(
                detail::apply_op<Op>(x, at, own, get<I>(args.forward)), dy, at, state, args, sums);
        if constexpr (adds && detail::GradientsOf<Op>::sums > 0) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(own)>, detail::Nothing>)
                Op::add_gradients(sums + Sum, x, dy, Op::prepare(at, get<I>(args.forward)));
            else Op::add_gradients(sums + Sum, x, dy, own);
        }
        if constexpr (I == 0 && waits) return dy;
        else return dy * detail::slope_op<Op>(x, at, own, get<I>(args.forward));
    }

    template <int I, int Sum, class Op, class... More, class V>
    FUSEKIT_HD static constexpr void save_from(V const* sums, OutputCoord const& at, Args const& args) {
        if constexpr (detail::GradientsOf<Op>::sums > 0)
            Op::save_gradients(sums + Sum, at, get<I>(args.forward), get<I>(args.gradients));
        if constexpr (sizeof...(More) > 0)
            save_from<I + 1, Sum + detail::GradientsOf<Op>::sums, More...>(sums, at, args);
    }
};

/// The gradient of a pointwise plan, derived from its type: from dy = dL/dy to dx = dL/dx, and dL/dparameter of every
/// parameter that has a gradient. Nothing is to be saved but the plan's input x, and batch statistics where the plan
/// computes them (saved_mean, saved_inverse_deviation): all values between are computed again from x.
///
///     auto backward = Backward<Layer>::bind(layer, x, {.scale = dscale, .shift = dshift}, {});
///     backward(device, dy, dx);
///
/// `layer` is what the forward run was; then x, and for every operator of the plan the views that its gradients are
/// written to, each of which may be left out. Sums are of a fixed order: the same numbers come out of every run.
template <class ThePlan>
struct Backward;

template <class... Ops>
struct Backward<Fused<Ops...>> : Fused<Gradient<Ops...>> {
    static_assert(detail::has_no_conv<Ops...>() && (detail::differentiable<Ops>() && ...));
    using Plan = Fused<Gradient<Ops...>>;

    static constexpr Bound<Plan> bind(Bound<Fused<Ops...>> const& layer, AnyActivations const& x,
                                      typename detail::GradientsOf<Ops>::Type const&... gradients) {
        return {{arguments(layer), x, {{gradients}...}}, {}};
    }

    /// dx alone.
    static constexpr Bound<Plan> bind(Bound<Fused<Ops...>> const& layer, AnyActivations const& x)
        requires(sizeof...(Ops) > 0)
    {
        return bind(layer, x, typename detail::GradientsOf<Ops>::Type{}...);
    }

private:
    static constexpr Pack<typename Ops::Args...> arguments(Bound<Fused<Ops...>> const& layer) {
        return [&]<int... I>(std::integer_sequence<int, I...>) {
            return Pack<typename Ops::Args...>{{Fused<Ops...>::template argument<I>(layer)}...};
        }(std::make_integer_sequence<int, sizeof...(Ops)>{});
    }
};

}  // namespace fusekit
