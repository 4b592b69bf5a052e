// SPDX-License-Identifier: MIT
#include "gpu.hpp"

template struct fusekit_torch::StatisticsOnGpu<float>;

void fusekit_torch::merge_on_gpu(MergeCall const& call, LaunchTarget const& target) { bind(call, RunOnGpu{target}); }
