// SPDX-License-Identifier: MIT
#include "peers/cudnn_layers.hpp"

template void bench::run_layout<fusekit::half>(bench::CudnnRun const&, bool);
