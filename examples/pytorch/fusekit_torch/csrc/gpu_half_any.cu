// SPDX-License-Identifier: MIT
#include "gpu.hpp"

template struct fusekit_torch::OnGpu<fusekit::half, fusekit_torch::AnyMode>;
