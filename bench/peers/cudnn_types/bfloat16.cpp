// SPDX-License-Identifier: MIT
#include "peers/cudnn_layers.hpp"

template void bench::run_layout<fusekit::bfloat16>(bench::CudnnRun const&, bool);
