// SPDX-License-Identifier: MIT
#include "gpu.hpp"

template struct fusekit_torch::PoolOnGpu<float>;
template struct fusekit_torch::PoolOnGpu<fusekit::half>;
template struct fusekit_torch::PoolOnGpu<fusekit::bfloat16>;
