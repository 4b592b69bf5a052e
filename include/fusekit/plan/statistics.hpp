// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/plan/reduction.hpp"
#include "fusekit/plan/validate.hpp"

namespace fusekit {

namespace detail {

template <class... Ops>
inline constexpr int statistics_at = -1;
template <class Op, class... More>
inline constexpr int statistics_at<Op, More...> = StatisticsOp<Op>             ? 0
                                                  : statistics_at<More...> < 0 ? -1
                                                                               : 1 + statistics_at<More...>;

}  // namespace detail

/// The operator of statistics among those of an Epilogue, and its arguments.
template <class Epilogue>
struct Observer;
template <class... Ops>
struct Observer<Epilogue<Ops...>> {
    static constexpr int at = detail::statistics_at<Ops...>;
    using Op = TypeAt<at, Ops...>;

    FUSEKIT_HD static constexpr typename Op::Args const& args(typename Epilogue<Ops...>::Args const& all) {
        return get<at>(all);
    }
};

/// Where in scratch the totals of a plan with a Conv lie: for every tile, each float of the totals of all channels.
template <class Total>
struct TileTotalsView {
    static constexpr int words = sizeof(Total) / sizeof(float);
    float* first;
    std::int64_t channels;

    FUSEKIT_HD constexpr float* at(std::int64_t tile, std::int64_t k, int word) const {
        return first + (tile * words + word) * channels + k;
    }
    FUSEKIT_HD constexpr void put(std::int64_t tile, std::int64_t k, Total const& total) const {
        for (int word = 0; word < words; ++word) *at(tile, k, word) = reinterpret_cast<float const*>(&total)[word];
    }
};

/// The head of a plan, and all of it, in which an operator has statistics of the values that pass it.
template <class... Ops>
struct Observed {
    using Operators = Epilogue<Ops...>;
    using Args = typename Operators::Args;

    static void check(Args const& args, Check const& in) {
        detail::check_epilogue(static_cast<Operators*>(nullptr), args, in);
    }
};

template <class Head>
concept Observes = requires { typename Head::Operators; };

template <class... Ops>
struct ReductionSteps<Observed<Ops...>> {
    using States = Epilogue<Ops...>;
    using Observer = fusekit::Observer<States>;
    using Op = typename Observer::Op;
    using Args = typename States::Args;
    template <class V>
    using Running = typename Op::template Running<V>;
    template <class V>
    using Total = typename Op::template Total<V>;
    template <class V>
    using Prepared = detail::Nothing;

    static constexpr bool per_place = false, has_operand = false, has_totals = true, waits = false;

    FUSEKIT_HD static constexpr Args const& state_args(Args const& args) { return args; }
    FUSEKIT_HD static constexpr typename States::PlaceState prepare(OutputCoord const& at, Args const& args) {
        return States::prepare(at, args);
    }
    template <class V, class At, class State, class Mask = bool>
    FUSEKIT_HD static constexpr void add(Running<V>& running, V value, V, At const& at, State const& state,
                                         Args const& args, Mask counts = true) {
        running.add(States::template apply_first<Observer::at>(value, at, state, args), counts);
    }
    template <class V>
    FUSEKIT_HD static constexpr void save(Total<V> const& total, OutputCoord const& at, Args const& args) {
        Op::save(total, at, Observer::args(args));
    }
    template <class V, class At, class State>
    FUSEKIT_HD static constexpr V apply(V value, V, At const& at, State const& state, Prepared<V> const&,
                                        Args const& args) {
        return States::apply(value, at, state, args);
    }
};

}  // namespace fusekit
