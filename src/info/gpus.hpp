// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace fusekit::info {

/// GPUs that one vendor's driver lists, found without linking the driver.
struct Gpus {
    std::string driver;  ///< file of the driver, or why it lists no GPU
    std::vector<std::string> names;  ///< "NVIDIA H200, compute capability 9.0"
};

Gpus nvidia_gpus();
Gpus amd_gpus();

}  // namespace fusekit::info
