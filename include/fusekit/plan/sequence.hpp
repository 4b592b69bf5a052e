// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/ops/operator.hpp"

namespace fusekit::detail {

/// Properties of an operator that the ordering rules test, computed from its type or from a run-time description
/// (Descriptor).
struct OperatorFacts {
    Stage stage;
    bool head;           ///< true for a Conv or Gemm
    bool of_matrices;    ///< true for a Gemm
    bool batched;        ///< true for a Gemm with weights for each matrix of a batch
    bool reduces;        ///< true if a result depends on several values: of a channel, a row or a window
    bool totals;         ///< true for statistics, which pass the value through and total it
    bool totals_x;       ///< true for statistics that are not valid after a Conv or Gemm
    bool pools;          ///< true for a pool: reduces a window to one value
    bool exceeds_tile;   ///< true for a pool whose windows are not the 2 x 2 that a Conv's output tile contains
    bool overlaps;       ///< true for a pool whose windows overlap or leave gaps
    bool stores;         ///< true if it stores each value to a tensor, or updates a maximum
    bool of_rows;        ///< true for a RowOp
    bool before_rows;    ///< true if it maps one value to one value and updates no maximum
    bool fits_prologue;  ///< true for a function of a value and its channel alone that stores nothing
    bool of_pixels;      ///< true if it has parameters per pixel, K x P x Q

    FUSEKIT_H constexpr bool operator==(OperatorFacts const&) const = default;
};

template <class Op>
consteval bool exceeds_tile() {
    if constexpr (PoolingOp<Op>) return !Op::fits_tile;
    else return false;
}

template <class Op>
consteval bool overlaps() {
    if constexpr (PoolingOp<Op>) return !Op::divides;
    else return false;
}

template <class Op>
inline constexpr OperatorFacts facts_of = {
    .stage = Op::stage,
    .head = MainloopOp<Op>,
    .of_matrices = MatrixOp<Op>,
    .batched = BatchedOp<Op>,
    .reduces = ReductionOp<Op> || RowOp<Op> || GatherOp<Op>,
    .totals = StatisticsOp<Op>,
    .totals_x = StatisticsOp<Op> && !TileStatisticsOp<Op>,
    .pools = PoolingOp<Op>,
    .exceeds_tile = exceeds_tile<Op>(),
    .overlaps = overlaps<Op>(),
    .stores = Storing<Op> || MaximumOp<Op>,
    .of_rows = RowOp<Op>,
    .before_rows = EpilogueOp<Op> && !MaximumOp<Op> && !PoolingOp<Op> && !StatisticsOp<Op> && !ReductionOp<Op>,
    .fits_prologue =
        (Uniform<Op> || Channelwise<Op>) && !Storing<Op> && !MaximumOp<Op> && !PoolingOp<Op> && !StatisticsOp<Op>,
    .of_pixels = Pixelwise<Op> && !Uniform<Op> && !Channelwise<Op>};

/// The properties of a plan's operators, in plan order; the argument of the ordering rules.
struct Sequence {
    OperatorFacts const* at;
    int size;

    FUSEKIT_H constexpr int count(Stage stage) const {
        int found = 0;
        for (int i = 0; i < size; ++i) found += at[i].stage == stage;
        return found;
    }
    FUSEKIT_H constexpr int count(bool OperatorFacts::* fact) const {
        int found = 0;
        for (int i = 0; i < size; ++i) found += at[i].*fact;
        return found;
    }
    FUSEKIT_H constexpr bool any(bool OperatorFacts::* fact) const { return count(fact) > 0; }

    /// Index of the first Conv or Gemm; 0 if there is none.
    FUSEKIT_H constexpr int first_head() const {
        for (int i = 0; i < size; ++i)
            if (at[i].head) return i;
        return 0;
    }

    /// True if every operator of stage `early` is before all of stage `late`, separately among the operators before and
    /// after the Conv or Gemm.
    FUSEKIT_H constexpr bool ordered(Stage early, Stage late) const {
        bool found = false;
        for (int i = 0; i < size; ++i) {
            if (found && at[i].stage == early) return false;
            found = at[i].stage != Stage::mainloop && (found || at[i].stage == late);
        }
        return true;
    }

    /// True if at most one operator of this stage is before the Conv or Gemm, and at most one after it.
    FUSEKIT_H constexpr bool at_most_one(Stage stage) const { return ordered(stage, stage); }

    /// True if no operator other than the last one of the plan has this stage.
    FUSEKIT_H constexpr bool only_last(Stage stage) const {
        for (int i = 0; i + 1 < size; ++i)
            if (at[i].stage == stage) return false;
        return true;
    }
};

template <class... Ops>
inline constexpr OperatorFacts all_facts[sizeof...(Ops) + 1] = {facts_of<Ops>..., {}};

template <class... Ops>
consteval Sequence sequence_of() {
    return {all_facts<Ops...>, static_cast<int>(sizeof...(Ops))};
}

}  // namespace fusekit::detail
