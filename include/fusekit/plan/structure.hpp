// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"
#include "fusekit/plan/epilogue.hpp"
#include "fusekit/plan/ordering.hpp"
#include "fusekit/plan/statistics.hpp"

namespace fusekit::detail {

/// Kind of a plan's head, the part that computes the values to which the epilogue is applied. A backend has one class
/// specialisation (RunHead) for each kind.
enum class HeadKind {
    elementwise,  ///< no head: the values are those of x
    conv,         ///< reduces a window of x for each output
    gemm,         ///< reduces a row of x for each output
    weight_gradient,  ///< reduces over all pixels for each weight
    reduction,    ///< totals all values of a channel or pixel
    rows,         ///< normalizes rows: the channels of a pixel, or groups of channels of an image
    gather,       ///< reads a few values of x for each output
    row_gradient,  ///< gradient of a plan that normalizes rows
};

/// Head of a plan without a Conv, Gemm or reduction: its values are those of x.
struct Elementwise {
    struct Args {};
};

template <class Head>
consteval HeadKind kind_of_head() {
    if constexpr (MatrixOp<Head>) return HeadKind::gemm;
    else if constexpr (WeightGradientOp<Head>) return HeadKind::weight_gradient;
    else if constexpr (MainloopOp<Head>) return HeadKind::conv;
    else if constexpr (requires { requires Head::of_rows; }) return HeadKind::row_gradient;
    else if constexpr (ReductionOp<Head> || Collects<Head>) return HeadKind::reduction;
    else if constexpr (RowOp<Head>) return HeadKind::rows;
    else if constexpr (GatherOp<Head>) return HeadKind::gather;
    else return HeadKind::elementwise;
}

template <class Op>
struct PoolOr {
    using Type = void;
};
template <PoolingOp Op>
struct PoolOr<Op> {
    using Type = Op;
};

template <class ThePrologue, class TheHead, class TheEpilogue>
struct Slots {
    using Prologue = ThePrologue;
    using Head = TheHead;
    using Epilogue = TheEpilogue;
};

/// Type: the operators of a plan as prologue, head and epilogue: those before the Conv, Gemm or RowOp are the prologue.
template <class Prologue, class... Ops>
struct SlotsFrom;
template <class... Before, class First, class... Rest>
struct SlotsFrom<Epilogue<Before...>, First, Rest...> : SlotsFrom<Epilogue<Before..., First>, Rest...> {};
template <class... Before, class Head, class... Rest>
    requires(MainloopOp<Head> || RowOp<Head>)
struct SlotsFrom<Epilogue<Before...>, Head, Rest...> : Slots<Epilogue<Before...>, Head, Epilogue<Rest...>> {};

/// Structure of a plan that breaks an ordering rule: without operators, so that the rule's message is the only error.
template <class... Ops>
struct SlotsOf : Slots<Epilogue<>, Elementwise, Epilogue<>> {};

template <class... Ops>
    requires Fusable<Ops...>
struct SlotsOf<Ops...> : Slots<Epilogue<>, Elementwise, Epilogue<Ops...>> {};

template <class... Ops>
    requires(Fusable<Ops...> && !(MainloopOp<Ops> || ...) && (StatisticsOp<Ops> || ...))
struct SlotsOf<Ops...> : Slots<Epilogue<>, StatisticsHead<Ops...>, Epilogue<>> {};

template <class First, class... Ops>
    requires(Fusable<First, Ops...> && (ReductionOp<First> || GatherOp<First>))
struct SlotsOf<First, Ops...> : Slots<Epilogue<>, First, Epilogue<Ops...>> {};

template <class... Ops>
    requires(Fusable<Ops...> && ((MainloopOp<Ops> || RowOp<Ops>) || ...))
struct SlotsOf<Ops...> : SlotsFrom<Epilogue<>, Ops...> {};

/// Roles of a plan's operators:
///   Prologue   elementwise operators, applied to each value that the head reads; results are rounded to x's type
///   Head       a Conv or Gemm, a RowOp, a reduction, or Elementwise, whose values are those of x
///   Epilogue   elementwise operators, applied to each value of the head
///   Pool       the operator that reduces a window of values to one output; void if there is none
template <class... Ops>
struct Structure : SlotsOf<Ops...> {
    using typename SlotsOf<Ops...>::Prologue;
    using typename SlotsOf<Ops...>::Head;
    using typename SlotsOf<Ops...>::Epilogue;

    static constexpr HeadKind head_kind = kind_of_head<Head>();
    static constexpr bool has_conv = head_kind == HeadKind::conv, has_gemm = head_kind == HeadKind::gemm;
    static constexpr bool has_weight_gradient = head_kind == HeadKind::weight_gradient;
    static constexpr bool of_rows = head_kind == HeadKind::rows || head_kind == HeadKind::row_gradient;
    static constexpr bool has_mainloop = has_conv || has_gemm || has_weight_gradient;

    /// True if operators precede the Conv, Gemm or RowOp; the mainloop applies them to each value that it reads.
    static constexpr bool has_prologue = !std::is_same_v<Prologue, detail::Epilogue<>>;
    /// True if a Conv or Gemm is followed by ChannelStatistics: each output tile then writes statistics of its values
    /// to scratch.
    static constexpr bool totals_tiles = has_mainloop && Epilogue::collects;

    /// `maxima`: number of operators that update a maximum (Amax). maximum<number>(): address of the float of the Amax
    /// with index `number`, from 0.
    static constexpr int maxima = [] {
        if constexpr (Collects<Head>) return Head::Operators::maxima;
        else return Epilogue::maxima;
    }();
    template <int number, class BoundPlan>
    FUSEKIT_HD static constexpr float* maximum(BoundPlan const& bound) {
        if constexpr (Collects<Head>) return Head::Operators::template maximum<number>(bound.head);
        else return Epilogue::template maximum<number>(bound.epilogue);
    }

    using Pool = typename PoolOr<TypeAt<static_cast<int>(sizeof...(Ops)), Elementwise, Ops...>>::Type;
    static constexpr bool pools = !std::is_void_v<Pool>;

    /// True if y may be x: each element of x is read only for the same element of y, before that is written. False for
    /// ChannelStatistics, where a thread also reads, as its shift, an element of x that another thread may already have
    /// overwritten.
    static constexpr bool runs_in_place = !pools && (head_kind == HeadKind::elementwise || of_rows ||
                                                     (head_kind == HeadKind::reduction && !Collects<Head>));

    /// prologue_size: number of operators before the head. head_is_operator: the head is an operator of the plan, not
    /// Elementwise or a StatisticsHead.
    static constexpr int prologue_size = Prologue::size;
    static constexpr bool head_is_operator = MainloopOp<Head> || ReductionOp<Head> || RowOp<Head> || GatherOp<Head>;

    /// Collapses a view, a layout or extents of x or y to four modes: signals, images and volumes to N x C x rows x
    /// columns, matrices to rows as pixels (tensor/collapse.hpp). Three modes under a RowOp are matrices, B x M x N,
    /// whose rows it normalizes.
    template <class Modes>
    FUSEKIT_H static constexpr auto collapse(Modes const& modes) {
        if constexpr (has_gemm && Modes::rank <= 4) return collapse_matrices(modes);  // others are refused
        else if constexpr (of_rows && Modes::rank == 3) return collapse_matrices(modes);
        else return detail::collapse<4>(modes);
    }
};

}  // namespace fusekit::detail
