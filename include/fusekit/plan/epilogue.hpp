// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/ops/operator.hpp"
#include "fusekit/plan/args.hpp"

FUSEKIT_BEGIN_OPERATOR_CALLS

namespace fusekit::detail {

struct Nothing {};

template <class Op, class V>
struct ChannelStateOf {
    using Type = Nothing;
};
template <class Op, class V>
    requires Channelwise<Op>
struct ChannelStateOf<Op, V> {
    using Type = typename Op::template Prepared<V>;
};

template <class Op>
struct PixelStateOf : ChannelStateOf<Op, float> {};
template <class Op>
    requires Pixelwise<Op>
struct PixelStateOf<Op> {
    using Type = typename Op::template Prepared<float>;
};

template <class V>
inline constexpr int lanes_of = static_cast<int>(sizeof(V) / sizeof(float));

/// Op's prepared parameters (the struct Op::Prepared<V>) as an array: of floats or, for a vector V, of vectors.
template <class Op, class V>
struct Fields {
    static constexpr std::size_t count = sizeof(typename Op::template Prepared<float>) / sizeof(float);
    V value[count];
};

/// Copies Op's prepared parameters of one channel to every lane of a vector V; returns Nothing if Op has none.
template <class V, class Op>
FUSEKIT_HD constexpr auto broadcast_op(typename ChannelStateOf<Op, float>::Type const& state) {
    if constexpr (!Channelwise<Op>) {
        return Nothing{};
    } else {
        auto const scalars = config::bit_cast<Fields<Op, float>>(state);
        Fields<Op, V> vectors{};
        for (std::size_t i = 0; i < vectors.count; ++i) vectors.value[i] = V{} + scalars.value[i];
        return config::bit_cast<typename Op::template Prepared<V>>(vectors);
    }
}

/// Prepares Op's parameters of channels k ... k + count - 1, one channel per lane of a vector V. Lanes from `count` on
/// get the parameters of the last channel.
template <class V, class Op>
FUSEKIT_HD constexpr auto gather_op(std::int64_t k, int count, typename Op::Args const& args) {
    if constexpr (!Channelwise<Op>) {
        return Nothing{};
    } else {
        Fields<Op, V> vectors{};
        for (int lane = 0; lane < lanes_of<V>; ++lane) {
            auto const scalars =
                config::bit_cast<Fields<Op, float>>(Op::prepare(k + (lane < count ? lane : count - 1), args));
            for (std::size_t i = 0; i < vectors.count; ++i) vectors.value[i][lane] = scalars.value[i];
        }
        return config::bit_cast<typename Op::template Prepared<V>>(vectors);
    }
}

template <class Op, class V = float>
FUSEKIT_HD constexpr auto prepare_op(std::int64_t k, typename Op::Args const& args) {
    if constexpr (!Channelwise<Op>) return Nothing{};
    else if constexpr (std::is_same_v<V, float>) return Op::prepare(k, args);
    else if constexpr (requires { Op::template prepare<V>(k, args); }) return Op::template prepare<V>(k, args);
    else return broadcast_op<V, Op>(Op::prepare(k, args));
}

template <class Op, class At>
FUSEKIT_HD constexpr auto prepare_op_at(At const& at, typename Op::Args const& args) {
    if constexpr (Pixelwise<Op>) return Op::prepare(at, args);
    else return prepare_op<Op>(at.k, args);
}

/// Calls f with the arguments that Op::apply has: (x, prepared parameters), (x, args) or (x, at, args). For a vector x
/// that Op::apply does not support, calls f once per lane.
template <class Op, class F, class V, class At, class State>
FUSEKIT_HD constexpr V in_form_of(F const& f, V x, At const& at, State const& state, typename Op::Args const& args) {
    if constexpr (!std::is_same_v<State, Nothing>) return f(x, state);
    else if constexpr (Pixelwise<Op, V, At>) return f(x, Op::prepare(at, args));
    else if constexpr (Uniform<Op, V>) return f(x, args);
    else if constexpr (Located<Op, V, At>) return f(x, at, args);
    else {
        for (int lane = 0; lane < at.count; ++lane) {
            if constexpr (Uniform<Op>) x[lane] = f(static_cast<float>(x[lane]), args);
            else x[lane] = f(static_cast<float>(x[lane]), at.lane(lane), args);
        }
        return x;
    }
}

template <class Op, class V, class At, class State>
FUSEKIT_HD constexpr V apply_op(V x, At const& at, State const& state, typename Op::Args const& args) {
    return in_form_of<Op>([](auto const&... given) { return Op::apply(given...); }, x, at, state, args);
}

template <class Op, class V, class Collect>
FUSEKIT_HD constexpr void collect_op(V const& x, Collect const& collect) {
    if constexpr (StatisticsOp<Op> && !std::is_same_v<Collect, Nothing>) collect(x);
}

/// True for an operator that needs the coordinate (n, k, p, q) of its value: it loads or stores one element of an
/// activation tensor, or updates a maximum, which must not include pixels outside y.
template <class Op>
concept Reading = MaximumOp<Op> || (!Uniform<Op> && !Channelwise<Op> && !Pixelwise<Op>);
/// Argument for Op::views in the concept NamesActivations, which tests at compile time that Op::views exists.
struct IgnoresView {
    FUSEKIT_H void operator()(auto const&) const {}
};
template <class Op>
concept NamesActivations = !Storing<Op> && requires(typename Op::Args& args) { Op::views(args, IgnoresView{}); };

/// True for an operator whose apply() and slope() load elements of one view, Op::read_view(args).
template <class Op>
concept ReadsOneView = NamesActivations<Op> && requires(typename Op::Args const& args) {
    { Op::read_view(args) } -> std::convertible_to<AnyView<4> const&>;
};

/// A sequence of elementwise operators, each applied to the result of the previous one. After a head (a Conv, a Gemm
/// ...) the sequence is applied to the head's values; before a Conv or Gemm, to each value of x that this reads. Values
/// are scalars or CPU vectors.
template <class... Ops>
struct Epilogue {
    static constexpr int size = sizeof...(Ops);
    using Args = KernelTuple<typename Ops::Args...>;

    /// Prepared parameters of the operators with parameters per channel: of one channel or, if V is a vector, of each
    /// lane's channel.
    template <class V>
    using State = KernelTuple<typename ChannelStateOf<Ops, V>::Type...>;

    /// Prepares the operators' parameters of channel k, in float or double (V).
    template <class V = float>
    FUSEKIT_HD static constexpr State<V> prepare(std::int64_t k, Args const& args) {
        return [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            return State<V>{{prepare_op<Ops, V>(k, get<Nth>(args))}...};
        }(std::make_integer_sequence<int, sizeof...(Ops)>{});
    }

    /// Prepared parameters, in float, of the operators with parameters per channel or per pixel, for one channel k at
    /// one pixel (p, q).
    using PixelState = KernelTuple<typename PixelStateOf<Ops>::Type...>;

    /// Coordinates on which the operators' results depend. `channelwise`: an operator has parameters per channel k.
    /// `located`: an operator needs n, k, p, q, which includes operators that update a maximum. `per_pixel`: an
    /// operator has parameters per k, p, q. `pixelwise`: the result depends on p and q.
    static constexpr bool channelwise = (Channelwise<Ops> || ...);
    static constexpr bool located = (Reading<Ops> || ...), per_pixel = (Pixelwise<Ops> || ...);
    static constexpr bool pixelwise = located || per_pixel;
    static constexpr bool reads_image = ((Reading<Ops> && !MaximumOp<Ops>) || ...);

    /// True if exactly one operator loads elements of activation tensors, and its Op::views lists the views from which
    /// it loads.
    static constexpr bool reads_named = (0 + ... + Reading<Ops>) == 1 && (0 + ... + NamesActivations<Ops>) == 1 &&
                                        ((Reading<Ops> == NamesActivations<Ops>) && ...);

    /// True if it loads them from one view, which read_view() returns.
    static constexpr bool reads_one_view = reads_named && (... || ReadsOneView<Ops>);
    FUSEKIT_HD static constexpr AnyView<4> const& read_view(Args const& args)
        requires(reads_one_view)
    {
        return [&]<int... Nth>(std::integer_sequence<int, Nth...>) -> AnyView<4> const& {
            constexpr int at = (0 + ... + (ReadsOneView<Ops> ? Nth : 0));
            return TypeAt<at, Ops...>::read_view(get<at>(args));
        }(std::make_integer_sequence<int, sizeof...(Ops)>{});
    }

    /// `maxima`: number of operators that update a maximum (Amax). `writes`: an operator stores every value to a tensor
    /// other than y (Store). `stores`: `writes`, or an operator updates a maximum. `collects`: an operator accumulates
    /// statistics (ChannelStatistics).
    static constexpr int maxima = (0 + ... + MaximumOp<Ops>);
    static constexpr bool writes = (Storing<Ops> || ...), stores = writes || maxima > 0,
                          collects = (StatisticsOp<Ops> || ...);

    /// Address of the float that the Amax operator with index `number` updates; indices count Amax operators from 0 in
    /// plan order.
    template <int number>
    FUSEKIT_HD static constexpr float* maximum(Args const& args) {
        constexpr int at = index_of_maximum(number);
        return TypeAt<at, Ops...>::maximum(get<at>(args));
    }

    /// Calls f with each view of activations in `args` that an operator's Op::views lists.
    FUSEKIT_H static constexpr void views(Args const& args, auto const& f) {
        [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            (views_of<Ops>(get<Nth>(args), f), ...);
        }(std::make_integer_sequence<int, sizeof...(Ops)>{});
    }

    /// Prepares the operators' parameters of channel at.k at pixel (at.p, at.q); they do not depend on at.n.
    template <class At>
        requires std::derived_from<At, OutputCoord>
    FUSEKIT_HD static constexpr PixelState prepare(At const& at, Args const& args) {
        return [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            return PixelState{{prepare_op_at<Ops>(at, get<Nth>(args))}...};
        }(std::make_integer_sequence<int, sizeof...(Ops)>{});
    }

    /// Copies prepared parameters of one channel to every lane of a vector V.
    template <class V>
    FUSEKIT_HD static constexpr State<V> broadcast(State<float> const& state) {
        return [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            return State<V>{{broadcast_op<V, Ops>(get<Nth>(state))}...};
        }(std::make_integer_sequence<int, sizeof...(Ops)>{});
    }

    /// Prepares the operators' parameters of channels k ... k + count - 1, one channel per lane of V.
    template <class V>
    FUSEKIT_HD static constexpr State<V> prepare_lanes(std::int64_t k, int count, Args const& args) {
        return [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            return State<V>{{gather_op<V, Ops>(k, count, get<Nth>(args))}...};
        }(std::make_integer_sequence<int, sizeof...(Ops)>{});
    }

    /// Applies all operators to x in order and returns the result. `state` is the prepared parameters, a State<V> or,
    /// for V = float, a PixelState. Calls collect(v) with v, the value before the statistics operator, if there is one.
    template <class V, class At, class TheState, class Collect = Nothing>
    FUSEKIT_HD static constexpr V apply(V x, At const& at, TheState const& state, Args const& args,
                                        Collect const& collect = {}) {
        [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            ((x = apply_op<Ops>(x, at, get<Nth>(state), get<Nth>(args)), collect_op<Ops>(x, collect),
              raise_op<Nth, Ops>(x, at, args)),
             ...);
        }(std::make_integer_sequence<int, sizeof...(Ops)>{});
        return x;
    }

    /// Applies only the first Count operators to x and returns the result. Store operators among them do not store.
    template <int Count, class V, class At, class TheState>
    FUSEKIT_HD static constexpr V apply_first(V x, At const& at, TheState const& state, Args const& args) {
        auto const apply_unless_stored = [&]<int Nth, class Op>(Op const*) {
            if constexpr (!Storing<Op>) x = apply_op<Op>(x, at, get<Nth>(state), get<Nth>(args));
        };
        [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            (apply_unless_stored.template operator()<Nth>(static_cast<TypeAt<Nth, Ops...>*>(nullptr)), ...);
        }(std::make_integer_sequence<int, Count>{});
        return x;
    }

    /// Applies the operators to Count adjacent elements x[i], one operator at a time for all elements. at[i] is the
    /// coordinate of x[i], and at.store(view, values) stores all Count values at once.
    template <std::size_t Count, class Coords>
    FUSEKIT_HD static constexpr void apply_each(float (&x)[Count], Coords const& at, PixelState const (&state)[Count],
                                                Args const& args) {
        [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            (apply_one_to_each<Nth, Ops>(x, at, state, args), ...);
        }(std::make_integer_sequence<int, sizeof...(Ops)>{});
    }

private:
    FUSEKIT_H static constexpr int index_of_maximum(int number) {
        bool const is_maximum[] = {MaximumOp<Ops>..., false};
        int i = 0;
        for (; !is_maximum[i] || number > 0; ++i) number -= is_maximum[i];
        return i;
    }
    FUSEKIT_H static constexpr int maxima_before(int end) {
        bool const is_maximum[] = {MaximumOp<Ops>..., false};
        int count = 0;
        for (int i = 0; i < end; ++i) count += is_maximum[i];
        return count;
    }
    template <int Nth, class Op, class V, class At>
    FUSEKIT_HD static constexpr void raise_op(V const& x, At const& at, Args const& args) {
        if constexpr (MaximumOp<Op>) at.template raise<maxima_before(Nth)>(Op::maximum(get<Nth>(args)), x);
    }
    template <class Op>
    FUSEKIT_H static constexpr void views_of(typename Op::Args args, auto const& f) {
        if constexpr (requires { Op::views(args, f); }) Op::views(args, f);
    }
    template <int Nth, class Op, std::size_t Count, class Coords>
    FUSEKIT_HD static constexpr void apply_one_to_each(float (&x)[Count], Coords const& at,
                                                       PixelState const (&state)[Count], Args const& args) {
        if constexpr (Storing<Op>) {
            float stored[Count] = {};
            for (std::size_t i = 0; i < Count; ++i) stored[i] = Op::stored(x[i]);
            at.store(Op::output(get<Nth>(args)), stored);
        } else {
            for (std::size_t i = 0; i < Count; ++i)
                x[i] = apply_op<Op>(x[i], at[static_cast<int>(i)], get<Nth>(state[i]), get<Nth>(args));
            for (std::size_t i = 0; i < Count; ++i) raise_op<Nth, Op>(x[i], at[static_cast<int>(i)], args);
        }
    }
};

}  // namespace fusekit::detail

FUSEKIT_END_OPERATOR_CALLS
