// SPDX-License-Identifier: MIT
#include "peers/cudnn_layers.hpp"

template void bench::run_layout<float>(bench::CudnnRun const&, bool);
