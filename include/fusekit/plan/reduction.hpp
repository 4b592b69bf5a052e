// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/plan/epilogue.hpp"

namespace fusekit::detail {

/// Steps of a plan whose head is a reduction (batch statistics, statistics without a Conv, a gradient), as backends
/// call them. For every channel or pixel, over its `count` values, a backend does the following:
///   state = States::prepare(..., state_args(args)), in one of the forms of Epilogue::prepare;
///   accumulator.start(first value); add(accumulator, value, operand, state, counts) for every value; a false `counts`,
///     a bool or a lane mask, adds nothing;
///   total = accumulator.total(count); totals of several accumulators are merged, or combined by sums;
///   save(total); prepared = finish(total);
///   y = apply(value, operand, state, prepared) for every value.
/// If `waits` is false, or Head has no totals, add() and apply() are called in the same pass, which reads each value
/// once; else apply() is called in a second pass. If `has_operand`, `operand` is the element of a second tensor at the
/// value's coordinate.
template <class Head>
struct ReductionSteps;

template <class Op>
    requires ReductionOp<Op>
struct ReductionSteps<Op> {
    using Args = typename Op::Args;
    using States = Epilogue<typename Op::Affine>;
    template <class V>
    using Accumulator = typename Op::template Accumulator<V>;
    template <class V>
    using Total = typename Op::template Total<V>;
    template <class V>
    using Prepared = typename Op::template Prepared<V>;

    static constexpr bool per_pixel = totals_per_pixel<Op>(), has_operand = false, has_totals = true, waits = true;

    FUSEKIT_HD static constexpr typename States::Args state_args(Args const& args) { return {{args}}; }
    FUSEKIT_HD static constexpr typename States::PixelState prepare(OutputCoord const& at, Args const& args) {
        return {{prepare_op_at<typename Op::Affine>(at, args)}};
    }
    template <class V, class Mask = bool>
    FUSEKIT_HD static constexpr void add(Accumulator<V>& accumulator, V value, V, auto const&, auto const&, Args const&,
                                         Mask counts = true) {
        accumulator.add(value, counts);
    }
    template <class V>
    FUSEKIT_HD static constexpr void save(Total<V> const& total, OutputCoord const& at, Args const& args) {
        Op::save(total, at, args);
    }
    template <class V, class State, class At>
    FUSEKIT_HD static constexpr Prepared<V> finish(Total<V> const& total, std::int64_t, State const& state,
                                                   At const& at, Args const& args) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(get<0>(state))>, Nothing>)
            return Op::finish(total, Op::Affine::prepare(at, args), args);
        else return Op::finish(total, get<0>(state), args);
    }
    template <class V>
    FUSEKIT_HD static constexpr V apply(V value, V, auto const&, auto const&, Prepared<V> const& prepared,
                                        Args const&) {
        return Op::apply(value, prepared);
    }
};

}  // namespace fusekit::detail
