// SPDX-License-Identifier: MIT
#include "gpu.hpp"

template struct fusekit_torch::OnGpu<fusekit::bfloat16, fusekit_torch::AnyMode>;
