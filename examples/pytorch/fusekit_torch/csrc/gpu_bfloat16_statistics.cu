// SPDX-License-Identifier: MIT
#include "gpu.hpp"

template struct fusekit_torch::StatisticsOnGpu<fusekit::bfloat16>;
