// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/math.hpp"
#include "fusekit/ops/activation.hpp"
#include "fusekit/ops/group_norm.hpp"
#include "fusekit/plan/epilogue.hpp"

namespace fusekit::hip {

/// A plan's prologue on sm_90a for values that are rounded to 16 bits before and afterwards: SiLU and logistic use the
/// special function unit, with an error of |x| + 8 ulp of a float; GroupNormFromStatistics is x * scale + shift, where
/// shift includes -mean * scale: its rounding error is at most 2^-12 of the error of rounding an x near the mean to 16
/// bits.
template <class Prologue>
struct FastPrologue;
template <class... Ops>
struct FastPrologue<detail::Epilogue<Ops...>> {
    using Prologue = detail::Epilogue<Ops...>;

    /// Returns the parameters for apply(): those of a GroupNormFromStatistics without their mean.
    template <class State>
    __device__ static State prepared(State state) {
        [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            (fold_mean<Ops>(detail::get<Nth>(state)), ...);
        }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Ops))>{});
        return state;
    }
    template <class State>
    __device__ static float apply(float x, State const& state, typename Prologue::Args const& args) {
        [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            ((x = apply_op<Ops>(x, detail::get<Nth>(state), detail::get<Nth>(args))), ...);
        }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Ops))>{});
        return x;
    }

private:
    template <class Op, class State>
    __device__ static void fold_mean(State& state) {
        if constexpr (std::is_same_v<Op, GroupNormFromStatistics>) state.shift -= state.mean * state.scale;
    }
    template <class Op, class State>
    __device__ static float apply_op(float x, State const& state, typename Op::Args const& args) {
        // -750 keeps -infinity times 0 from being NaN
        if constexpr (std::is_same_v<Op, Activation<Silu>>) return (math::max)(x, -750.0f) * logistic(x);
        else if constexpr (std::is_same_v<Op, Activation<Logistic>>) return logistic(x);
        else if constexpr (std::is_same_v<Op, GroupNormFromStatistics>) return x * state.scale + state.shift;
        else return detail::apply_op<Op>(x, OutputCoord{}, state, args);
    }
    /// 1 / (1 + e^-x)
    __device__ static float logistic(float x) {
        constexpr float log2_of_e = 1.44269504f;
        return ptx::rcp_approx_ftz(1.0f + ptx::ex2_approx_ftz(-log2_of_e * x));
    }
};

}  // namespace fusekit::hip
