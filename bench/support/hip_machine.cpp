// SPDX-License-Identifier: MIT
#include "support/hip_machine.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "support/hip_error.hpp"
#include "support/machine.hpp"

namespace bench {

namespace {

/// Version such as "580.65.06": the first word of `path` that looks like one. Empty if there is none.
std::string version_in(char const* path) {
    std::ifstream file(path);
    for (std::string word; file >> word;)
        if (word.find('.') != word.npos && word.find_first_not_of("0123456789.") == word.npos) return word;
    return "";
}

}  // namespace

Machine gpu_machine(fusekit::hip::Device const& device) {
    int driver = 0, runtime = 0;
    require(hipDriverGetVersion(&driver), "hipDriverGetVersion");
    require(hipRuntimeGetVersion(&runtime), "hipRuntimeGetVersion");
#if defined(__CUDACC__)
    std::string const module = version_in("/proc/driver/nvidia/version");
    std::string const versions =
        text("CUDA %d.%d, runtime %d.%d", driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
#else
    std::string const module = version_in("/sys/module/amdgpu/version");
    std::string const versions = text("HIP %d, runtime %d", driver, runtime);
#endif
    return {device.name(), (module.empty() ? "" : module + ", ") + versions, compiler_name()};
}

std::int64_t gpu_rotated_bytes(int index) {
    hipDeviceProp_t properties;
    require(hipGetDeviceProperties(&properties, index), "hipGetDeviceProperties");
#if defined(__CUDACC__)
    return 2 * std::int64_t{properties.l2CacheSize};
#else
    // MI300's largest cache has 256 MB, which HIP does not report.
    return 2 * std::max<std::int64_t>(properties.l2CacheSize, 256 << 20);
#endif
}

}  // namespace bench
