// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

#include "support/backend.hpp"
#include "support/graph_timing.hpp"
#include "support/hip_ceilings.hpp"
#include "support/hip_machine.hpp"
#include "support/measure.hpp"
#include "support/text.hpp"

namespace bench {

namespace {

class HipBackend final : public Backend {
public:
    explicit HipBackend(int index) : device(index), rotated_bytes(gpu_rotated_bytes(index)) {
        require(hipSetDevice(index), "hipSetDevice");
    }

    char const* kind() const override { return "hip"; }
    int usual_batch() const override { return 64; }
    Machine machine() const override { return gpu_machine(device); }
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
