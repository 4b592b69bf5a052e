// SPDX-License-Identifier: MIT
#include "host.hpp"

template struct fusekit_torch::StatisticsOnHost<float>;
template struct fusekit_torch::StatisticsOnHost<fusekit::half>;
template struct fusekit_torch::StatisticsOnHost<fusekit::bfloat16>;

void fusekit_torch::merge_on_host(MergeCall const& call) {
    bind(call, [](auto const& bound, auto const& x, auto const& y) { bound(host_device(), x, y); });
}
