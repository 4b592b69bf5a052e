// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "fusekit/backend/hip/schedule/conv_case.hpp"
#include "fusekit/backend/hip/schedule/plan_traits.hpp"
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
            .taps_neighbour = false,
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

/// Sentence of the unmet condition; empty if all conditions are met.
inline std::string sentence(fusekit::hip::Unmet const& unmet) { return unmet ? unmet.sentence().c_str() : ""; }

}  // namespace test
