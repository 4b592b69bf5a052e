// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

#include <algorithm>

#include "support/backend.hpp"
#include "support/ceilings.hpp"
#include "support/machine.hpp"
#include "support/measure.hpp"

namespace bench {

namespace {

class HostBackend final : public Backend {
public:
    explicit HostBackend(int threads) : device(threads), busy(is_busy()) {}

    char const* kind() const override { return "host"; }
    int usual_batch() const override { return 8; }
    Machine machine() const override { return {cpu_and_threads(device.threads()), "", compiler_name(), busy}; }
    std::string method() const override {
        return text("%d-bit vectors; fused and unfused in turn, buffers rotated past the caches",
                    8 * fusekit::config::vector_bytes);
    }
    Ceilings measure_ceilings() override { return bench::measure_ceilings(device.threads()); }

    Measurement measure(ConvLayer const& layer, Case const& of) override {
        return measure_type(device, settings(of), layer);
    }
    Measurement measure(NormLayer const& layer, NormMode mode, Case const& of) override {
        return measure_type(device, settings(of), layer, mode);
    }

private:
    fusekit::host::Device device;
    bool busy;

    static Settings settings(Case const& of) {
        Sampling sampling;
        sampling.repeats = of.repeats;
        return {of, rotated_bytes(), 2000, [sampling](std::vector<Subject> const& subjects, std::int64_t) {
                    return interleaved_medians(subjects, sampling);
                }};
    }
};

}  // namespace

std::unique_ptr<Backend> host_backend(int threads) { return std::make_unique<HostBackend>(threads); }

}  // namespace bench
