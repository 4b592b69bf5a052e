// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/tensor/dtype.hpp>

#include <algorithm>
#include <memory>
#include <string>

#include "layers.hpp"
#include "support/sample_check.hpp"

namespace bench {

/// Peak rates of a device, bound by arithmetic alone or by memory alone.
struct Ceilings {
    double gflops;              ///< float fused multiply-adds in registers, two operations each
    double gigabytes_a_second;  ///< copying memory, bytes read plus bytes written

    /// Minimum seconds for this many FLOPs and bytes.
    double floor(double flops, double bytes) const {
        return 1e-9 * std::max(flops / gflops, bytes / gigabytes_a_second);
    }
    /// The larger of two measurements: a rate that was reached once can be reached.
    friend Ceilings larger(Ceilings const& a, Ceilings const& b) {
        return {std::max(a.gflops, b.gflops), std::max(a.gigabytes_a_second, b.gigabytes_a_second)};
    }
    /// True if the machine was equally busy in two measurements: they differ by at most a tenth.
    friend bool alike(Ceilings const& a, Ceilings const& b) {
        auto const near = [](double p, double q) { return std::max(p, q) <= 1.1 * std::min(p, q); };
        return near(a.gflops, b.gflops) && near(a.gigabytes_a_second, b.gigabytes_a_second);
    }
};

/// Subject of a measurement, except the layer.
struct Case {
    int batch;
    fusekit::DataType type;
    bool channels_last;
    int repeats;  ///< samples of each time; the median is reported
};

struct Measurement {
    double unfused_seconds, fused_seconds;
    Verdict fused, unfused;

    double speedup() const { return unfused_seconds / fused_seconds; }
    bool passed() const { return fused.passed() && unfused.passed(); }
};

/// Machine of the measurements, for their label.
struct Machine {
    std::string device, driver, compiler;  ///< `driver` is empty on the host
    bool busy = false;                     ///< other work ran at the same time
};

/// A device to measure on. The host's is compiled by the C++ compiler and a GPU's by the GPU's, which cannot compile
/// the other: they share this interface and the templates in chains.hpp.
class Backend {
public:
    virtual ~Backend() = default;
    virtual char const* kind() const = 0;  ///< "host" or "hip"
    virtual int usual_batch() const = 0;
    virtual Machine machine() const = 0;
    virtual std::string method() const = 0;  ///< method of timing, in one line
    virtual Ceilings measure_ceilings() = 0;
    virtual Measurement measure(ConvLayer const&, Case const&) = 0;
    virtual Measurement measure(NormLayer const&, NormMode, Case const&) = 0;
};

/// On `threads` threads; 0: one per processor.
std::unique_ptr<Backend> host_backend(int threads);

/// Number of usable GPUs: 0 in a program built without GPU support.
int gpu_count();
std::unique_ptr<Backend> hip_backend(int index);

}  // namespace bench
