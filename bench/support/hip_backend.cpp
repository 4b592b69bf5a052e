// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

#include <algorithm>
#include <fstream>
#include <string>

#include "support/backend.hpp"
#include "support/graph_timing.hpp"
#include "support/hip_ceilings.hpp"
#include "support/machine.hpp"
#include "support/measure.hpp"

namespace bench {

namespace {

/// "580.65.06": the first word of `path` that is a version. Empty where there is none.
std::string version_in(char const* path) {
    std::ifstream file(path);
    for (std::string word; file >> word;)
        if (word.find('.') != word.npos && word.find_first_not_of("0123456789.") == word.npos) return word;
    return "";
}

std::string driver_name() {
    int driver = 0, runtime = 0;
    require(hipDriverGetVersion(&driver), "hipDriverGetVersion");
    require(hipRuntimeGetVersion(&runtime), "hipRuntimeGetVersion");
#if defined(__CUDACC__)
    std::string const module = version_in("/proc/driver/nvidia/version");
    return text("%s%sCUDA %d.%d, runtime %d.%d", module.c_str(), module.empty() ? "" : ", ", driver / 1000,
                driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
#else
    std::string const module = version_in("/sys/module/amdgpu/version");
    return text("%s%sHIP %d, runtime %d", module.c_str(), module.empty() ? "" : ", ", driver, runtime);
#endif
}

class HipBackend final : public Backend {
public:
    explicit HipBackend(int index) : device(index) {
        require(hipSetDevice(index), "hipSetDevice");
        hipDeviceProp_t properties;
        require(hipGetDeviceProperties(&properties, index), "hipGetDeviceProperties");
#if defined(__CUDACC__)
        std::int64_t const largest_cache = properties.l2CacheSize;
#else
        // MI300's largest cache has 256 MB, which HIP does not tell of.
        std::int64_t const largest_cache = std::max<std::int64_t>(properties.l2CacheSize, 256 << 20);
#endif
        rotated_bytes = 2 * largest_cache;
    }

    char const* kind() const override { return "hip"; }
    int usual_batch() const override { return 64; }
    Machine machine() const override { return {device.name().c_str(), driver_name(), compiler_name()}; }
    std::string method() const override {
        return text("calls captured into graphs, fused and unfused in turn, buffers rotated through %.0f MB",
                    1e-6 * static_cast<double>(rotated_bytes));
    }
    Ceilings measure_ceilings() override { return bench::measure_ceilings(device.stream(), device.processors()); }

    Measurement measure(ConvLayer const& layer, Case const& of) override {
        return measure_type(device, settings(of), layer);
    }
    Measurement measure(NormLayer const& layer, NormMode mode, Case const& of) override {
        return measure_type(device, settings(of), layer, mode);
    }

private:
    fusekit::hip::Device device;
    std::int64_t rotated_bytes;

    Settings settings(Case const& of) {
        return {of, rotated_bytes, 2000, [this, of](std::vector<Subject> const& subjects, std::int64_t rotation) {
                    return graph_medians(device.stream(), subjects, rotation, of.repeats);
                }};
    }
};

}  // namespace

int gpu_count() { return fusekit::hip::device_count(); }
std::unique_ptr<Backend> hip_backend(int index) { return std::make_unique<HipBackend>(index); }

}  // namespace bench
