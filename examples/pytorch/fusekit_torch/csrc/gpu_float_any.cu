// SPDX-License-Identifier: MIT
#include "gpu.hpp"

template struct fusekit_torch::OnGpu<float, fusekit_torch::AnyMode>;
