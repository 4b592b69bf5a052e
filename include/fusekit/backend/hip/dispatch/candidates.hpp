// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/estimate.hpp"

namespace fusekit::hip {

namespace detail {

template <bool has, class Schedules>
using TableIf = std::conditional_t<has, Schedules, Table<>>;

/// The schedules of sm_90a's matrix units for a plan.
template <class Plan, class T, class U>
struct MatrixCandidates {
    template <bool units>
    static auto register_operands() {
        if constexpr (units)
            return JoinedTable<MatrixTable<NvidiaTuning, T>, TableIf<has_matrix_units<Plan, T> && has_split<Plan, T>,
                                                                     Table<DefaultMatrixSplit<NvidiaTuning>>>>{};
        else return Table<>{};
    }
    template <bool bulk>
    static auto bulk_operands() {
        if constexpr (bulk)
            return JoinedTable<
                WarpSpecializedTable<NvidiaTuning, T>, TableIf<has_halo<Plan, T, U>, Table<DefaultHalo>>,
                TableIf<has_stem<Plan, T, U>, Table<DefaultStem>>,
                TableIf<has_planes<Plan, T, U> && NvidiaTuning::chooses_planes, PlanesTable<NvidiaTuning>>>{};
        else return Table<>{};
    }
    using Type = JoinedTable<decltype(bulk_operands<has_warp_specialized<Plan, T, U>>()),
                             decltype(register_operands<has_matrix_units<Plan, T> || has_float_units<Plan, T>>())>;
};

}  // namespace detail

/// The schedules that the library chooses from for a plan with a Conv or Gemm, those that any GPU has last.
template <class Tuning, class Plan, Element T, detail::OutputElement U>
using Candidates =
    detail::JoinedTable<typename detail::MatrixCandidates<Plan, T, U>::Type,
                        detail::TableIf<std::is_same_v<T, float> && has_split<Plan, T> && Tuning::chooses_split,
                                        Table<DefaultSplit<Tuning>>>,
                        GemmTable<Tuning, T, typename Plan::Head::template WeightElement<T>>>;

/// The times of a list of schedules, to be taken from the least on.
template <class... Schedules>
class Ranking {
public:
    static constexpr int count = sizeof...(Schedules);

    Ranking(Table<Schedules...>, ConvCase const& of, CostTable const& costs, Machine const& machine)
        : schedules{facts_of<Schedules>()...} {
        for (int i = 0; i < count; ++i) times[i] = estimate_of(schedules[i], of, costs, machine);
    }

    /// The number of the best that is left; -1 where none is.
    int best() const {
        int best = -1;
        for (int i = 0; i < count; ++i)
            if (times[i].seconds < (best < 0 ? Estimate::infinite : times[best].seconds)) best = i;
        return best;
    }
    ScheduleFacts const& schedule(int number) const { return schedules[number]; }
    Estimate const& time(int number) const { return times[number]; }
    void strike(int number) { times[number] = {}; }

private:
    ScheduleFacts schedules[count];
    Estimate times[count];
};

}  // namespace fusekit::hip
