// SPDX-License-Identifier: MIT
#include "gpus.hpp"

#include "jit/loaded_library.hpp"

namespace fusekit::info {

namespace {

#if defined(_WIN32)
constexpr char const* cuda_drivers[] = {"nvcuda.dll"};
constexpr char const* hip_runtimes[] = {"amdhip64_7.dll", "amdhip64_6.dll", "amdhip64.dll"};
#else
constexpr char const* cuda_drivers[] = {"libcuda.so.1"};
constexpr char const* hip_runtimes[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
#endif

/// Functions that CUDA's driver API and HIP have under other names; each returns 0 if it succeeds.
struct Driver {
    int (*initialise)(unsigned flags) = nullptr;
    int (*count)(int* devices) = nullptr;
    int (*device)(int* device, int index) = nullptr;
    int (*name)(char* name, int size, int device) = nullptr;
    int (*capability)(int* major, int* minor, int device) = nullptr;

    std::vector<std::string> gpus(char const* words, std::string& problem) const {
        std::vector<std::string> all;
        int number = 0;
        if (int const status = initialise(0)) problem = "status " + std::to_string(status) + " of its initialisation";
        else if (int const counted = count(&number)) problem = "status " + std::to_string(counted);
        for (int i = 0; i < number; ++i) {
            int handle = 0, major = 0, minor = 0;
            char text[256] = "";
            if (device(&handle, i) != 0 || name(text, sizeof text, handle) != 0) continue;
            std::string line = text;
            if (capability(&major, &minor, handle) == 0)
                line += std::string(", ") + words + " " + std::to_string(major) + "." + std::to_string(minor);
            all.push_back(line);
        }
        return all;
    }
};

Gpus list(jit::LoadedLibrary const& library, bool complete, Driver const& driver, std::string const& file,
          char const* words) {
    if (!library) return {"no " + file, {}};
    if (!complete) return {file + " lacks functions", {}};
    std::string problem;
    std::vector<std::string> names = driver.gpus(words, problem);
    return {problem.empty() ? file : file + ": " + problem, names};
}

}  // namespace

Gpus nvidia_gpus() {
    static jit::LoadedLibrary const library(cuda_drivers);
    Driver driver;
    bool const complete = library.find("cuInit", driver.initialise) && library.find("cuDeviceGetCount", driver.count) &&
                          library.find("cuDeviceGet", driver.device) && library.find("cuDeviceGetName", driver.name) &&
                          library.find("cuDeviceComputeCapability", driver.capability);
    return list(library, complete, driver, cuda_drivers[0], "compute capability");
}

Gpus amd_gpus() {
    static jit::LoadedLibrary const library(hip_runtimes);
    Driver driver;
    bool const complete =
        library.find("hipInit", driver.initialise) && library.find("hipGetDeviceCount", driver.count) &&
        library.find("hipDeviceGet", driver.device) && library.find("hipDeviceGetName", driver.name) &&
        library.find("hipDeviceComputeCapability", driver.capability);
    return list(library, complete, driver, "libamdhip64", "capability");
}

}  // namespace fusekit::info
