// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>

#include "fusekit/ops/operator.hpp"
#include "fusekit/plan/args.hpp"

namespace fusekit {

namespace detail {

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

template <class V>
inline constexpr int lanes_of = static_cast<int>(sizeof(V) / sizeof(float));

/// Prepared<V> of channels k, k + step, ... one a lane; lanes from `count` on repeat the last channel.
template <class V, class Op>
FUSEKIT_HD constexpr auto prepare_op(std::int64_t k, int step, int count, typename Op::Args const& args) {
    if constexpr (!Channelwise<Op>) {
        return Nothing{};
    } else if constexpr (lanes_of<V> == 1) {
        return Op::prepare(k, args);
    } else {
        constexpr int fields = sizeof(typename Op::template Prepared<float>) / sizeof(float);
        struct Scalars { float field[fields]; };
        struct Vectors { V field[fields]; } vectors{};
        for (int lane = 0; lane < (step == 0 ? 1 : lanes_of<V>); ++lane) {
            auto const scalars = std::bit_cast<Scalars>(Op::prepare(k + step * (lane < count ? lane : count - 1), args));
            for (int i = 0; i < fields; ++i)
                if (step == 0) vectors.field[i] = V{} + scalars.field[i];
                else vectors.field[i][lane] = scalars.field[i];
        }
        return std::bit_cast<typename Op::template Prepared<V>>(vectors);
    }
}

template <class Op, class V, class At, class State>
FUSEKIT_HD constexpr V apply_op(V x, At const& at, State const& channel, typename Op::Args const& args) {
    if constexpr (Channelwise<Op, V>) return Op::apply(x, channel);
    else if constexpr (Uniform<Op, V>) return Op::apply(x, args);
    else if constexpr (Located<Op, V, At>) return Op::apply(x, at, args);
    else {
        for (int lane = 0; lane < at.count; ++lane) {
            if constexpr (Uniform<Op>) x[lane] = Op::apply(static_cast<float>(x[lane]), args);
            else x[lane] = Op::apply(static_cast<float>(x[lane]), at.lane(lane), args);
        }
        return x;
    }
}

}  // namespace detail

/// The operators after the mainloop, folded over one accumulator value or one vector of them.
template <class... Ops>
struct Epilogue {
    using Args = Pack<typename Ops::Args...>;

    /// What Channelwise operators prepared for one channel, or for a vector's lanes.
    template <class V>
    using State = Pack<typename detail::ChannelStateOf<Ops, V>::Type...>;

    /// State of channel `k` in every lane (step 0), or of `count` neighbouring channels (step 1).
    template <class V>
    FUSEKIT_HD static constexpr State<V> prepare(std::int64_t k, int step, int count, Args const& args) {
        return [&]<int... I>(std::integer_sequence<int, I...>) {
            return State<V>{{detail::prepare_op<V, Ops>(k, step, count, get<I>(args))}...};
        }(std::make_integer_sequence<int, sizeof...(Ops)>{});
    }

    template <class V, class At>
    FUSEKIT_HD static constexpr V apply(V x, At const& at, State<V> const& state, Args const& args) {
        [&]<int... I>(std::integer_sequence<int, I...>) {
            ((x = detail::apply_op<Ops>(x, at, get<I>(state), get<I>(args))), ...);
        }(std::make_integer_sequence<int, sizeof...(Ops)>{});
        return x;
    }
};

}  // namespace fusekit
