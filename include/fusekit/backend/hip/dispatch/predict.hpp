// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/candidates.hpp"
#include "fusekit/backend/hip/dispatch/fold_windows.hpp"
#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/runtime/device.hpp"
#include "fusekit/plan/prepared.hpp"

namespace fusekit::hip {

/// Estimate for a launch: time in seconds, limiting resource, and the schedule to which they apply.
struct Prediction {
    double seconds;
    Bound bound;
    ScheduleFacts schedule;
    int split_k = 1;  ///< split-K factor: CTAs per tile
    int parts = split_k;  ///< deprecated name of split_k (an attribute would warn in clang wherever this is copied)

    /// Text of the prediction: "WarpSpecialized<192, 128, 4>: 23.1 us, limited by arithmetic".
    FUSEKIT_H Text to_string() const {
        char time[32];
        std::snprintf(time, sizeof time, "%.3g us", 1e6 * seconds);
        return schedule.name(split_k) + ": " + time + ", limited by " + name_of(bound);
    }
};

namespace detail {

FUSEKIT_H inline GpuRates rates_at(GpuRates const& rates) { return rates; }
FUSEKIT_H inline GpuRates rates_at(Architecture architecture) { return rates_of(architecture); }
FUSEKIT_H inline GpuRates rates_at(Stream const& stream) { return rates_of(stream.gpu()); }

/// Argument in place of a device for validate(), which then checks layouts only.
struct NoDevice {};

/// Calls f with a Ranking, the estimated times of a plan's schedules on a GPU with these rates.
template <class Plan, Element T, OutputElement U, class F>
FUSEKIT_H auto with_ranking(GpuRates const& rates, BoundPlan<Plan> const& bound, ImageView<T const> const& x,
                            ImageView<U> const& y, F const& f) {
    return with_folded(ConvOperands<Plan, T, U>{bound, x, y}, [&](ConvOperands<Plan, T, U> const& operands) {
        ConvCase const of =
            case_of(operands, has_matrix_kernels<Plan, T, U> && is_sm90a(rates.architecture), max_workspace_bytes);
        return with_tuning(rates.architecture, [&]<class Tuning>(Tuning) {
            if (runs_depthwise(operands)) return f(Ranking(UntiledCandidates{}, of, Tuning::costs, rates));
            if (runs_without_tiles(operands))
                return f(Ranking(FallbackCandidates<Plan, T, U>{}, of, Tuning::costs, rates));
            return f(Ranking(Candidates<Tuning, Plan, T, U>{}, of, Tuning::costs, rates));
        });
    });
}

FUSEKIT_H inline Prediction best_of(Ranking const& ranking) {
    int const best = ranking.best();
    return {ranking.time(best).seconds, ranking.time(best).bound, ranking.schedule(best), ranking.time(best).split_k};
}

}  // namespace detail

/// Predictions for all schedules that can compute a convolution, sorted by time, the fastest first.
struct Predictions {
    Prediction each[Ranking::most] = {};
    int count = 0;

    FUSEKIT_H Prediction const* begin() const { return each; }
    FUSEKIT_H Prediction const* end() const { return each + count; }
};

namespace detail {

FUSEKIT_H inline Predictions all_of(Ranking ranking) {
    Predictions all;
    for (int best = ranking.best(); best >= 0; best = ranking.best()) {
        all.each[all.count++] = best_of(ranking);
        ranking.strike(best);
    }
    return all;
}

/// Calls f with the validated views of x and y, whose addresses are replaced by 16-byte aligned ones.
template <class Plan, Element T, OutputElement U, int Rank, class F>
FUSEKIT_H auto with_views(BoundPlan<Plan> const& bound, TensorView<T const, Rank> x, TensorView<U, Rank> y,
                          F const& f) {
    x.data = address_aligned(x.data, 16);
    y.data = address_aligned(y.data, 16);
    AliasCheckerOf<BoundPlan<Plan>> aliases;
    static_cast<void>(validate(bound, x, &y, NoDevice{}, aliases, Addresses::never, nullptr));
    return f(Plan::collapse(x), Plan::collapse(y));
}

}  // namespace detail

/// Predicts all schedules of a plan with a Conv or Gemm. `where` is a device, an architecture, or a GPU's rates.
/// Operands are assumed to be 16-byte aligned. Throws Error if a layout is invalid for the plan.
template <class Where, class Plan, Element T, detail::OutputElement U, int Rank>
    requires requires(Where const& where) { detail::rates_at(where); }
FUSEKIT_H Predictions predict_all(Where const& where, BoundPlan<Plan> const& bound, TensorView<T const, Rank> const& x,
                                  TensorView<U, Rank> const& y) {
    return detail::with_views(bound, x, y, [&](auto const& from, auto const& to) {
        return detail::with_ranking(detail::rates_at(where), bound, from, to,
                                    [](auto const& ranking) { return detail::all_of(ranking); });
    });
}

/// Predicts the schedule that the library selects (BoundPlan::predict()).
template <class Where, class Plan, Element T, detail::OutputElement U, int Rank>
    requires requires(Where const& where) { detail::rates_at(where); }
FUSEKIT_H Prediction predict_run(Where const& where, BoundPlan<Plan> const& bound, TensorView<T const, Rank> const& x,
                                 TensorView<U, Rank> const& y) {
    constexpr bool multiplies = Plan::has_mainloop && !Plan::has_weight_gradient;
    static_assert(multiplies, "predict() takes a plan with a Conv or Gemm");
    if constexpr (multiplies)
        return detail::with_views(bound, x, y, [&](auto const& from, auto const& to) {
            return detail::with_ranking(detail::rates_at(where), bound, from, to,
                                        [](auto const& ranking) { return detail::best_of(ranking); });
        });
    else return {};
}

/// Key of a plan's convolution of x to y in a TunedTable.
template <class Plan, Element T, detail::OutputElement U>
FUSEKIT_H TunedKey tuned_key(BoundPlan<Plan> const& bound, TensorView<T const> const& x, TensorView<U> const& y) {
    return detail::with_views(bound, x, y, [&](detail::ImageView<T const> const& from, detail::ImageView<U> const& to) {
        return detail::with_folded(detail::ConvOperands<Plan, T, U>{bound, from, to},
                                   [](auto const& operands) { return key_of(case_of(operands, false, 0)); });
    });
}

}  // namespace fusekit::hip
