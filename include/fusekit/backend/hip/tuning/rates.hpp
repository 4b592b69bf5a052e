// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/tags.hpp"
#include "fusekit/backend/hip/runtime/gpu.hpp"

namespace fusekit::hip {

/// Published rates of a GPU, for the cost model; if no GPU is present, those of one chip of the architecture. A product
/// is one multiply-add. `processors` are SMs of NVIDIA's GPUs or compute units of AMD's; comments say SM for both. L2
/// bandwidth and launch latency are not published: they are measured or estimated.
struct GpuRates {
    Architecture architecture = {};
    int processors;  ///< SMs or compute units
    double clock;  ///< peak, Hz
    double products;  ///< float multiply-adds in SIMT arithmetic, per SM and cycle
    /// multiply-adds of 16 and of 8 bits on tensor cores or by dot instructions, per SM and cycle; 0 if none
    double half_products, int8_products;
    double cache_bytes;  ///< bytes read from L2, per SM and cycle
    double memory_bytes;  ///< peak memory bandwidth, bytes per second
    double launch;  ///< seconds from the start of one empty kernel to that of the next in a graph
};

namespace arch {

/// Fallback for an unknown GPU: the rates of a small one.
FUSEKIT_H constexpr GpuRates rates_of(Any) {
    return {.processors = 16,
            .clock = 1e9,
            .products = 64,
            .half_products = 0,
            .int8_products = 0,
            .cache_bytes = 32,
            .memory_bytes = 200e9,
            .launch = 3e-6};
}

/// Rates of an AMD Instinct MI100. Sources: AMD's CDNA white paper, table 1, and data sheet. L2: half of the white
/// paper's 128 bytes per cycle for each of 32 channels. No rate of an AMD GPU is measured.
FUSEKIT_H constexpr GpuRates rates_of(Amd) {
    return {.processors = 120,
            .clock = 1.502e9,
            .products = 64,
            .half_products = 512,
            .int8_products = 512,
            .cache_bytes = 16,
            .memory_bytes = 1228e9,
            .launch = 3e-6};
}
/// Rates of an AMD Instinct MI210. Source: data sheet.
FUSEKIT_H constexpr GpuRates rates_of(Gfx90a) {
    return {.processors = 104,
            .clock = 1.7e9,
            .products = 64,
            .half_products = 512,
            .int8_products = 512,
            .cache_bytes = 20,
            .memory_bytes = 1638e9,
            .launch = 3e-6};
}
/// Rates of an AMD Instinct MI300X. Sources: data sheet; CDNA 3 white paper: 17.2 TB/s from the Infinity Cache.
FUSEKIT_H constexpr GpuRates rates_of(Gfx942) {
    return {.processors = 304,
            .clock = 2.1e9,
            .products = 128,
            .half_products = 1024,
            .int8_products = 2048,
            .cache_bytes = 27,
            .memory_bytes = 5300e9,
            .launch = 3e-6};
}
/// Rates of an AMD Instinct MI355X. Source: data sheet.
FUSEKIT_H constexpr GpuRates rates_of(Gfx950) {
    return {.processors = 256,
            .clock = 2.4e9,
            .products = 128,
            .half_products = 2048,
            .int8_products = 4096,
            .cache_bytes = 27,
            .memory_bytes = 8000e9,
            .launch = 3e-6};
}
/// Rates of an AMD Radeon RX 6800 XT. Source: product page.
FUSEKIT_H constexpr GpuRates rates_of(Gfx1030) {
    return {.processors = 72,
            .clock = 2.25e9,
            .products = 64,
            .half_products = 128,
            .int8_products = 256,
            .cache_bytes = 32,
            .memory_bytes = 512e9,
            .launch = 3e-6};
}
/// Rates of an AMD Radeon RX 7900 XTX. Source: product page.
FUSEKIT_H constexpr GpuRates rates_of(Gfx11) {
    return {.processors = 96,
            .clock = 2.5e9,
            .products = 128,
            .half_products = 256,
            .int8_products = 256,
            .cache_bytes = 32,
            .memory_bytes = 960e9,
            .launch = 3e-6};
}
/// Rates of an AMD Radeon RX 9070 XT. Source: product page.
FUSEKIT_H constexpr GpuRates rates_of(Gfx12) {
    return {.processors = 64,
            .clock = 2.97e9,
            .products = 128,
            .half_products = 512,
            .int8_products = 1024,
            .cache_bytes = 32,
            .memory_bytes = 640e9,
            .launch = 3e-6};
}

/// Rates of an NVIDIA T4. Sources: data sheet; multiply-adds per cycle: CUDA C++ Programming Guide, table of arithmetic
/// throughput.
FUSEKIT_H constexpr GpuRates rates_of(Nvidia) {
    return {.processors = 40,
            .clock = 1.59e9,
            .products = 64,
            .half_products = 512,
            .int8_products = 1024,
            .cache_bytes = 32,
            .memory_bytes = 320e9,
            .launch = 1.5e-6};
}
/// Rates of an NVIDIA A100. Source: Ampere architecture white paper; L2: 5120 bytes per cycle.
FUSEKIT_H constexpr GpuRates rates_of(Sm80) {
    return {.processors = 108,
            .clock = 1.41e9,
            .products = 64,
            .half_products = 1024,
            .int8_products = 2048,
            .cache_bytes = 47,
            .memory_bytes = 1555e9,
            .launch = 1.3e-6};
}
/// Rates of an NVIDIA A10. Source: data sheet.
FUSEKIT_H constexpr GpuRates rates_of(Sm86) {
    return {.processors = 72,
            .clock = 1.695e9,
            .products = 128,
            .half_products = 512,
            .int8_products = 1024,
            .cache_bytes = 32,
            .memory_bytes = 600e9,
            .launch = 1.3e-6};
}
/// Rates of an NVIDIA L40S. Source: data sheet.
FUSEKIT_H constexpr GpuRates rates_of(Sm89) {
    return {.processors = 142,
            .clock = 2.52e9,
            .products = 128,
            .half_products = 512,
            .int8_products = 1024,
            .cache_bytes = 32,
            .memory_bytes = 864e9,
            .launch = 1.3e-6};
}
/// Rates of an NVIDIA H200. Sources: data sheet; Hopper architecture white paper. L2 bandwidth and launch latency are
/// measured.
FUSEKIT_H constexpr GpuRates rates_of(Sm90) {
    return {.processors = 132,
            .clock = 1.98e9,
            .products = 128,
            .half_products = 2048,
            .int8_products = 4096,
            .cache_bytes = 52,
            .memory_bytes = 4800e9,
            .launch = 1.1e-6};
}

}  // namespace arch

/// Rates of one chip of an architecture.
FUSEKIT_H constexpr GpuRates rates_of(Architecture architecture) {
    GpuRates rates = with_tag(architecture, []<class Tag>(Tag tag) { return arch::rates_of(tag); });
    rates.architecture = architecture;
    return rates;
}

/// Rates of a GPU: the number of SMs, the clock and the memory bandwidth as the driver reports them, else those of the
/// architecture.
FUSEKIT_H inline GpuRates rates_of(Gpu const& gpu) {
    GpuRates rates = rates_of(gpu.architecture());
    rates.processors = gpu.processors();
    if (gpu.clock() > 0) rates.clock = gpu.clock();
    if (gpu.memory_rate() > 0) rates.memory_bytes = gpu.memory_rate();
    return rates;
}

/// Number of clusters of `cluster` CTAs that are resident at once, `blocks` CTAs per SM. A cluster runs within one GPC,
/// of 16 SMs or more. The estimate for 132 SMs is 7 GPCs of 16 SMs or more and one of 12 or more: 31 clusters of 4 CTAs
/// or 15 of 8, with one CTA per SM; an H200's driver reports 66 of 2, 30 or 31 of 4 and 15 of 8
/// (bench/results/h200/resident_clusters.txt).
FUSEKIT_H constexpr std::int64_t resident_clusters(std::int64_t processors, std::int64_t blocks, std::int64_t cluster) {
    if (cluster <= 2) return processors * blocks / cluster;
    std::int64_t const whole = processors <= 24 ? processors : processors - 8;
    return whole / 16 * (16 * blocks / cluster) + whole % 16 * blocks / cluster;
}
static_assert(resident_clusters(132, 1, 4) == 31 && resident_clusters(132, 1, 8) == 15);

}  // namespace fusekit::hip
