// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/image_order.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/team.hpp"
#include "fusekit/plan/plan.hpp"

namespace fusekit::hip {

/// A value in shared memory, where nothing is constructed.
template <class T>
struct Slot {
    alignas(T) unsigned char bytes[sizeof(T)];

    __device__ T& value() { return *reinterpret_cast<T*>(bytes); }
};

/// Where a Conv's own outputs would lie: more than y has where a plan pools them.
template <class Plan>
FUSEKIT_HD constexpr Layout<4> conv_output(Layout<4> y) {
    if constexpr (Plan::pools) y.shape[2] *= 2, y.shape[3] *= 2;
    return y;
}

/// The tiles of a grid whose totals are merged: groups of `members` neighbours first, then the groups.
struct TileGroups {
    Workspace workspace;  ///< a state for each group of each column of tiles, and for each column
    unsigned tiles = 0, members = 0;
};

/// What the kernel of a plan with a Conv is given.
template <class Plan, Element T>
struct ConvParams {
    Bound<Plan> bound;
    TensorView<T const> x;
    TensorView<T> y;
    bool channels_fastest;  ///< GemmK runs over channels first, then over taps; else the other way
    bool inputs_packed;     ///< packs of x along GemmK lie together and are aligned
    bool weights_packed;
    std::conditional_t<Plan::totals_tiles, TileGroups, fusekit::detail::Nothing> groups = {};

    __device__ ConvProblem<T, Plan::Head::folded_space> problem() const {
        return {
            x, typed<T>(bound.head.weights), {y.data, conv_output<Plan>(y.layout)}, Plan::Head::geometry(bound.head)};
    }
};

/// What a Conv multiplies for an element of x: what the prologue makes of it, rounded to its type.
template <class Plan, Element T, class State>
__device__ Accumulator<T> before_conv(ConvParams<Plan, T> const& params, State const& state, T value) {
    if constexpr (!Plan::has_prologue) return widened(value);
    else return widened(T(Plan::Prologue::apply(static_cast<float>(value), OutputCoord{}, state, params.bound.prologue)));
}

/// What the kernel of a plan without one is given. The tensors are read as `walks` repetitions of places, in packs of
/// neighbours, after which the parameters are the same again.
template <class Plan, Element T>
struct StreamParams {
    Bound<Plan> bound;
    TensorView<T const> x;
    TensorView<T> y;
    ImageOrder order;                        ///< in which places are counted
    Divisor tiles = {}, packs = {};          ///< of places; packs of one tile, which all of a block are of
    unsigned all_packs = 0;                  ///< which the last tile may exceed
    std::int64_t walks = 0, slices = 1;      ///< and the threads that share the walks of one place
    std::int64_t x_step = 0, y_step = 0;     ///< elements from one walk to the next,
    std::int64_t x_stride = 0, y_stride = 0; ///< and to the next of a thread
};

}  // namespace fusekit::hip
