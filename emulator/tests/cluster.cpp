// SPDX-License-Identifier: MIT
#include "hip_on_cpu/cluster.hpp"

#include <hip/hip_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "hip_on_cpu/sm90a.hpp"

namespace {

namespace ptx = hip_on_cpu::sm90a;

constexpr unsigned threads = 40;

/// Each thread sums, over all blocks of the cluster, the values that the threads with its index stored to shared memory
/// `own`, in two rounds.
void add_up_in(float* own, float* out) {
    unsigned const thread = threadIdx.x, block = blockIdx.x;
    float total = 0;
    for (unsigned round = 0; round < 2; ++round) {
        own[thread] = static_cast<float>((round * 100 + block) * threads + thread);
        hip_on_cpu::cluster_barrier();
        for (unsigned rank = 0; rank < hip_on_cpu::cluster_size(); ++rank)
            total += static_cast<float const*>(hip_on_cpu::shared_of_block(own, rank))[thread];
        hip_on_cpu::cluster_barrier();
    }
    out[block * threads + thread] = hip_on_cpu::in_cluster() ? total : -1;
}
__global__ void add_up(float* out) {
    __shared__ float own[threads];
    add_up_in(own, out);
}
/// add_up_in() with dynamic shared memory.
__global__ void add_up_asked(float* out) {
    HIP_DYNAMIC_SHARED(float, own)
    add_up_in(own + 8, out);
}

/// Kernel whose blocks read DSMEM after the other blocks may have finished.
void read_late_from(float* own, float* out) {
    if (threadIdx.x == 0) *own = 1;
    hip_on_cpu::cluster_barrier();
    if (hip_on_cpu::cluster_rank() == 0) return;
    while (std::isfinite(*static_cast<float const*>(hip_on_cpu::shared_of_block(own, 0)))) __threadfence();
    out[0] = 2;
}
__global__ void read_late(float* out) {
    __shared__ float own;
    read_late_from(&own, out);
}
__global__ void read_late_asked(float* out) {
    HIP_DYNAMIC_SHARED(float, own)
    read_late_from(own, out);
}

/// Kernel that converts an address of the block's shared memory to a number, and back.
__global__ void name_block(float* out) {
    HIP_DYNAMIC_SHARED(float, own)
    std::uint32_t const address = hip_on_cpu::sm90a::shared_address(own + 3);
    bool const leads_back = hip_on_cpu::sm90a::shared_pointer(address) == own + 3;
    if (threadIdx.x == 0) out[blockIdx.x] = leads_back && (address & 0xffffff) == 12 ? float(address >> 24) : -1;
}

/// Kernel argument: a matrix of floats, `rounds` boxes of two rows of 8, and the sums of the boxes that a block
/// received.
struct Shares {
    ptx::TensorMap map;
    unsigned rounds;
    float* out;
};

/// Kernel of clusters of two blocks: each loads a row of a box into both, in each round. A round begins when the
/// threads of both blocks have read the box before.
__global__ void share_rows(Shares shares) {
    constexpr unsigned row_bytes = 128;
    HIP_DYNAMIC_SHARED(float, box)
    unsigned const rank = hip_on_cpu::cluster_rank();
    std::uint32_t const to = ptx::shared_address(box), full = to + 2 * row_bytes, empty = full + 8;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(full, 1);
        ptx::mbarrier_init(empty, 2);
    }
    hip_on_cpu::cluster_barrier();
    float sum = 0;
    for (unsigned round = 0; round < shares.rounds; ++round) {
        if (threadIdx.x == 0) {
            ptx::mbarrier_wait(empty, round % 2 ^ 1);
            ptx::mbarrier_arrive_expect_tx(full, 2 * row_bytes);
            ptx::tma_load_multicast(to + rank * row_bytes, &shares.map, full,
                                    {0, static_cast<std::int32_t>(2 * round + rank)}, 3);
        }
        ptx::mbarrier_wait(full, round % 2);
        sum += box[threadIdx.x];
        __syncthreads();
        if (threadIdx.x < 2) ptx::mbarrier_arrive_cluster(ptx::mapa(empty, threadIdx.x));
    }
    shares.out[blockIdx.x * threads + threadIdx.x] = sum;
    hip_on_cpu::cluster_barrier();
}

bool has_clusters() {
    hipDeviceProp_t properties;
    return hipGetDeviceProperties(&properties, 0) == hipSuccess && properties.major >= 9;
}

hipError_t start(void (*kernel)(float*), unsigned blocks, unsigned cluster, float* out, unsigned shared_bytes = 0) {
    void* arguments[] = {&out};
    return hip_on_cpu::launch_clusters(kernel, dim3(blocks), dim3(threads), cluster, arguments, shared_bytes, nullptr);
}

}  // namespace

TEST_CASE("in a cluster an address of shared memory names its block") {
    if (!has_clusters()) SKIP("this device has no clusters");
    std::vector<float> out(6, -2);
    REQUIRE(start(name_block, 6, 3, out.data(), 64) == hipSuccess);
    REQUIRE(hipDeviceSynchronize() == hipSuccess);
    CHECK(out == std::vector<float>{0, 1, 2, 0, 1, 2});
}

TEST_CASE("blocks of a cluster read each other's shared memory") {
    std::vector<float> out(8 * threads, 0);
    if (!has_clusters()) {
        CHECK(start(add_up, 8, 4, out.data()) == hipErrorInvalidValue);
        CHECK(hipGetLastError() == hipErrorInvalidValue);
        return;
    }
    for (unsigned const turn : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u}) {
        unsigned const cluster = 1u << turn % 4;
        float* device = nullptr;
        REQUIRE(hipMalloc(reinterpret_cast<void**>(&device), out.size() * sizeof(float)) == hipSuccess);
        REQUIRE((turn < 4 ? start(add_up, 8, cluster, device)
                          : start(add_up_asked, 8, cluster, device, (8 + threads) * sizeof(float))) == hipSuccess);
        REQUIRE(hipMemcpy(out.data(), device, out.size() * sizeof(float), hipMemcpyDeviceToHost) == hipSuccess);
        for (unsigned block = 0; block < 8; ++block)
            for (unsigned thread = 0; thread < threads; ++thread) {
                float expected = 0;
                for (unsigned other = 0; other < 8; ++other)
                    if (other / cluster == block / cluster)
                        expected += static_cast<float>((100 + 2 * other) * threads + 2 * thread);
                if (out[block * threads + thread] != expected) FAIL(cluster << ", " << block << ", " << thread);
            }
        CHECK(hipFree(device) == hipSuccess);
    }
    CHECK(start(add_up, 6, 4, out.data()) == hipErrorInvalidConfiguration);
    CHECK(start(add_up, 32, 32, out.data()) == hipErrorInvalidConfiguration);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
}

TEST_CASE("the shared memory of a block that has finished is NaN") {
    if (!has_clusters()) return;
    for (auto* const kernel : {read_late, read_late_asked}) {
        float* device = nullptr;
        REQUIRE(hipMalloc(reinterpret_cast<void**>(&device), sizeof(float)) == hipSuccess);
        REQUIRE(start(kernel, 2, 2, device, sizeof(float)) == hipSuccess);
        float out = 0;
        REQUIRE(hipMemcpy(&out, device, sizeof out, hipMemcpyDeviceToHost) == hipSuccess);
        CHECK(out == 2);
        CHECK(hipFree(device) == hipSuccess);
    }
}

TEST_CASE("blocks of a cluster load rows into each other's shared memory, and release it") {
    if (!has_clusters()) SKIP("this device has no clusters");
    constexpr unsigned rounds = 5, blocks = 4;
    std::vector<float> x(2 * rounds * 32), out(blocks * threads, -1);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    Shares shares{.map = {}, .rounds = rounds, .out = out.data()};
    std::uint64_t const extents[] = {32, 2 * rounds}, strides[] = {128};
    std::uint32_t const box[] = {32, 1};
    REQUIRE(ptx::encode_tiled(&shares.map, 4, 2, x.data(), extents, strides, box, 0));
    void* arguments[] = {&shares};
    REQUIRE(hip_on_cpu::launch_clusters(share_rows, dim3(blocks), dim3(threads), 2, arguments, 256 + 16, nullptr) ==
            hipSuccess);
    REQUIRE(hipDeviceSynchronize() == hipSuccess);
    for (unsigned i = 0; i < out.size(); ++i) {
        float expected = 0;
        for (unsigned round = 0; round < rounds; ++round) expected += x[64 * round + i % threads];
        CHECK(out[i] == expected);
    }
}
