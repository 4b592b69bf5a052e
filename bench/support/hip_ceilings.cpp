// SPDX-License-Identifier: MIT
#include "support/hip_ceilings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace bench {

namespace {

struct alignas(16) Four {
    float x, y, z, w;
};

constexpr std::int64_t stream_bytes = std::int64_t{1} << 30;
constexpr std::int64_t fours = stream_bytes / static_cast<std::int64_t>(sizeof(Four));

/// Copy by blocks of one tile each; a thread has `Loads` loads in flight.
template <int Loads>
__global__ void copy_tile(Four const* from, Four* to) {
    std::int64_t const first = std::int64_t{blockIdx.x} * blockDim.x * Loads + threadIdx.x;
    Four values[Loads];
#pragma unroll
    for (int i = 0; i < Loads; ++i) values[i] = from[first + i * blockDim.x];
#pragma unroll
    for (int i = 0; i < Loads; ++i) to[first + i * blockDim.x] = values[i];
}

/// Copy by a grid that fills the chip once.
template <int Loads>
__global__ void copy_stride(Four const* from, Four* to) {
    std::int64_t const step = std::int64_t{gridDim.x} * blockDim.x;
    std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (; i + (Loads - 1) * step < fours; i += Loads * step) {
        Four values[Loads];
#pragma unroll
        for (int j = 0; j < Loads; ++j) values[j] = from[i + j * step];
#pragma unroll
        for (int j = 0; j < Loads; ++j) to[i + j * step] = values[j];
    }
    for (; i < fours; i += step) to[i] = from[i];
}

/// STREAM triad: to = a + 3 b.
__global__ void triad(Four const* a, Four const* b, Four* to) {
    std::int64_t const i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    Four const p = a[i], q = b[i];
    to[i] = {p.x + 3 * q.x, p.y + 3 * q.y, p.z + 3 * q.z, p.w + 3 * q.w};
}

/// Fills with nonzero data, because a GPU may move zeros faster.
__global__ void fill(std::uint32_t* words) {
    std::int64_t const i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    auto const hash = static_cast<std::uint32_t>(i) * 2654435761u;
    words[i] = 0x3f000000u | (hash >> 9);  // floats in [0.5, 2)
}

constexpr int rounds = 16384, chains = 16;

__global__ void multiply_add(float* result, float factor, float term) {
    float sum[chains];
#pragma unroll
    for (int i = 0; i < chains; ++i) sum[i] = static_cast<float>(threadIdx.x + i);
#pragma unroll 4
    for (int round = 0; round < rounds; ++round)
#pragma unroll
        for (int i = 0; i < chains; ++i) sum[i] = fmaf(sum[i], factor, term);
    float total = 0;
#pragma unroll
    for (int i = 0; i < chains; ++i) total += sum[i];
    if (total == -1.0f) result[threadIdx.x] = total;  // never true, but unknown to the compiler
}

/// Owning GPU memory.
struct Buffer {
    void* bytes = nullptr;
    explicit Buffer(std::int64_t size) { require(hipMalloc(&bytes, static_cast<std::size_t>(size)), "hipMalloc"); }
    Buffer(Buffer const&) = delete;
    Buffer& operator=(Buffer const&) = delete;
    ~Buffer() { static_cast<void>(hipFree(bytes)); }
    Four* data() const { return static_cast<Four*>(bytes); }
};

/// Seconds of the fastest of eight runs of `launch`, after an untimed one.
template <class Launch>
double best_time(hipStream_t stream, Launch const& launch) {
    hipEvent_t begin, end;
    require(hipEventCreate(&begin), "hipEventCreate");
    require(hipEventCreate(&end), "hipEventCreate");
    float best = 1e30f;
    for (int attempt = 0; attempt < 9; ++attempt) {
        require(hipEventRecord(begin, stream), "hipEventRecord");
        launch();
        require(hipGetLastError(), "launch");
        require(hipEventRecord(end, stream), "hipEventRecord");
        require(hipEventSynchronize(end), "hipEventSynchronize");
        float milliseconds = 0;
        require(hipEventElapsedTime(&milliseconds, begin, end), "hipEventElapsedTime");
        if (attempt > 0) best = std::min(best, milliseconds);
    }
    static_cast<void>(hipEventDestroy(begin));
    static_cast<void>(hipEventDestroy(end));
    return 1e-3 * best;
}

/// Bytes per second of the fastest copy or triad.
double best_stream(hipStream_t stream, int processors) {
    Buffer const a(stream_bytes), b(stream_bytes), to(stream_bytes);
    unsigned const words = static_cast<unsigned>(stream_bytes / 4 / 256);
    fill<<<words, 256, 0, stream>>>(static_cast<std::uint32_t*>(a.bytes));
    fill<<<words, 256, 0, stream>>>(static_cast<std::uint32_t*>(b.bytes));
    require(hipGetLastError(), "launch");

    double best = 0;
    auto const tiles = [&](auto kernel, int loads, int threads) {
        auto const blocks = static_cast<unsigned>(fours / loads / threads);
        double const seconds = best_time(stream, [&] { kernel<<<blocks, threads, 0, stream>>>(a.data(), to.data()); });
        best = std::max(best, 2.0 * stream_bytes / seconds);
    };
    auto const stride = [&](auto kernel, int blocks, int threads) {
        double const seconds =
            best_time(stream, [&] { kernel<<<processors * blocks, threads, 0, stream>>>(a.data(), to.data()); });
        best = std::max(best, 2.0 * stream_bytes / seconds);
    };
    for (int threads : {256, 512, 1024}) {
        tiles(copy_tile<1>, 1, threads);
        tiles(copy_tile<2>, 2, threads);
        tiles(copy_tile<4>, 4, threads);
        stride(copy_stride<2>, 2048 / threads, threads);
        stride(copy_stride<4>, 1024 / threads, threads);
        double const seconds = best_time(stream, [&] {
            triad<<<static_cast<unsigned>(fours / threads), threads, 0, stream>>>(a.data(), b.data(), to.data());
        });
        best = std::max(best, 3.0 * stream_bytes / seconds);
    }
    return best;
}

}  // namespace

Ceilings measure_ceilings(hipStream_t stream, int processors) {
    double flops = 0;
    Buffer const result(4096);
    for (int blocks : {2, 4, 8}) {  // blocks of 256 threads per multiprocessor
        double const seconds = best_time(stream, [&] {
            multiply_add<<<processors * blocks, 256, 0, stream>>>(static_cast<float*>(result.bytes), 0.999f, 1e-3f);
        });
        flops = std::max(flops, 2.0 * chains * rounds * 256 * blocks * processors / seconds);
    }
    return {flops * 1e-9, best_stream(stream, processors) * 1e-9};
}

}  // namespace bench
