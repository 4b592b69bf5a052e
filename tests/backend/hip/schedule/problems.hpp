// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "fusekit/backend/hip/schedule/conv_case.hpp"
#include "fusekit/backend/hip/schedule/plan_traits.hpp"
#include "fusekit/backend/hip/tuning/nvidia.hpp"
#include "fusekit/backend/hip/unmet.hpp"
#include "fusekit/fusekit.hpp"

namespace test {

/// Channels-last convolution of half with r x r taps and padding r / 2, which an sm_90a GPU may compute with TMA loads.
inline fusekit::hip::ConvCase problem(std::int64_t n, std::int64_t c, std::int64_t hw, std::int64_t k, int r) {
    return {.product = {n * hw * hw, k, 1, c * r * r, 0},
            .type = fusekit::DataType::float16,
            .x = {{n, c, hw, hw}},
            .y = {{n, k, hw, hw}},
            .filter = fusekit::filter(r, r).pad(r / 2),
            .taps = r * r,
            .channels_last = true,
            .x_channels_last = true,
            .in_bulk = true,
            .rows_of_pixels = true,
            .contiguous_taps = false,
            .planes = fusekit::hip::detail::PlanesOrder::none,
            .terms = 1,
            .wants_matrix_units = false,
            .on_matrix_units = true,
            .workspace_bytes = 0};
}

/// Conditions of a schedule on a plan of elements T.
template <class Entry, class T, class... Ops>
constexpr fusekit::hip::PlanConditions conditions =
    Entry::template conditions<T>(fusekit::hip::traits_of<fusekit::Plan<Ops...>, T>());

/// True if a call with a schedule compiles for a plan of elements T.
template <class Entry, class Schedule, class T, class... Ops>
FUSEKIT_H consteval bool compiles() {
    using Bound = fusekit::BoundPlan<fusekit::Plan<Ops...>>;
    return Entry::template CanImplement<Schedule>::template accepts<fusekit::TensorView<T const>>(
        nullptr, static_cast<Bound const*>(nullptr));
}

/// Time on an H200, in seconds.
template <class Entry, class Schedule>
fusekit::hip::Estimate time_of(fusekit::hip::ConvCase const& of) {
    using namespace fusekit::hip;
    return Entry::cost(numbers_of<Entry, Schedule>(), of, NvidiaTuning::costs, rates_of(Architecture::sm(90)));
}

/// True if the time never falls from batch 1 to 256, and is over 8 times as long at 256. `change` edits the problems.
template <class Entry, class Schedule>
bool grows(std::int64_t c, std::int64_t hw, std::int64_t k, int r, auto const& change) {
    double first = 0, last = 0;
    for (std::int64_t n = 1; n <= 256; n *= 2) {
        fusekit::hip::ConvCase of = problem(n, c, hw, k, r);
        change(of);
        auto const time = time_of<Entry, Schedule>(of);
        if (!time.is_finite() || time.seconds < last) return false;
        last = time.seconds;
        if (n == 1) first = last;
    }
    return last > 8 * first;
}
template <class Entry, class Schedule>
bool grows(std::int64_t c, std::int64_t hw, std::int64_t k, int r) {
    return grows<Entry, Schedule>(c, hw, k, r, [](auto const&) {});
}

/// Sentence of the unmet condition; empty if all conditions are met.
inline std::string sentence(fusekit::hip::Unmet const& unmet) { return unmet ? unmet.sentence().c_str() : ""; }

}  // namespace test
