// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/plan/reduction.hpp"
#include "fusekit/plan/validate.hpp"

namespace fusekit::detail {

template <class... Ops>
inline constexpr int statistics_at = -1;
template <class Op, class... More>
inline constexpr int statistics_at<Op, More...> = StatisticsOp<Op>             ? 0
                                                  : statistics_at<More...> < 0 ? -1
                                                                               : 1 + statistics_at<More...>;

/// The operator of an Epilogue that collects statistics (ChannelStatistics): its index `at`, its type `Op`, and its
/// Args by `args()`.
template <class Epilogue>
struct Collector;
template <class... Ops>
struct Collector<Epilogue<Ops...>> {
    static constexpr int at = statistics_at<Ops...>;
    using Op = TypeAt<at, Ops...>;

    FUSEKIT_HD static constexpr typename Op::Args const& args(typename Epilogue<Ops...>::Args const& all) {
        return get<at>(all);
    }
};

/// View of the scratch of a plan with a Conv that collects statistics. For each tile and channel it has one Total, the
/// statistics of the tile's values in this channel. Layout: [tile][float of the Total][channel].
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

/// Head of a plan without a Conv or Gemm that collects statistics: a reduction to which all operators of the plan
/// belong.
template <class... Ops>
struct StatisticsHead {
    using Operators = Epilogue<Ops...>;
    using Args = typename Operators::Args;

    FUSEKIT_H static void check(Args const& args, Check const& in) {
        check_epilogue(static_cast<Operators*>(nullptr), args, in);
    }
};

template <class Head>
concept Collects = requires { typename Head::Operators; };

template <class... Ops>
struct ReductionSteps<StatisticsHead<Ops...>> {
    using States = Epilogue<Ops...>;
    using Collector = detail::Collector<States>;
    using Op = typename Collector::Op;
    using Args = typename States::Args;
    template <class V>
    using Accumulator = typename Op::template Accumulator<V>;
    template <class V>
    using Total = typename Op::template Total<V>;
    template <class V>
    using Prepared = Nothing;

    static constexpr bool per_pixel = false, has_operand = false, has_totals = true, waits = false;

    FUSEKIT_HD static constexpr Args const& state_args(Args const& args) { return args; }
    FUSEKIT_HD static constexpr typename States::PixelState prepare(OutputCoord const& at, Args const& args) {
        return States::prepare(at, args);
    }
    template <class V, class At, class State, class Mask = bool>
    FUSEKIT_HD static constexpr void add(Accumulator<V>& accumulator, V value, V, At const& at, State const& state,
                                         Args const& args, Mask counts = true) {
        value = States::template apply_first<Collector::at>(value, at, state, args);
        if constexpr (requires { accumulator.add(value, at, Collector::args(args), counts); })
            accumulator.add(value, at, Collector::args(args), counts);
        else accumulator.add(value, counts);
    }
    template <class V>
    FUSEKIT_HD static constexpr void save(Total<V> const& total, OutputCoord const& at, Args const& args) {
        Op::save(total, at, Collector::args(args));
    }
    template <class V, class At, class State>
    FUSEKIT_HD static constexpr V apply(V value, V, At const& at, State const& state, Prepared<V> const&,
                                        Args const& args) {
        return States::apply(value, at, state, args);
    }
};

}  // namespace fusekit::detail
