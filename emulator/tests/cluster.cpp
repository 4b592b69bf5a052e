// SPDX-License-Identifier: MIT
#include "hip_on_cpu/cluster.hpp"

#include <hip/hip_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

namespace {

constexpr unsigned threads = 40;

/// Each thread adds up what this thread of all the cluster's blocks wrote to shared memory, in two rounds.
__global__ void add_up(float* out) {
    __shared__ float own[threads];
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

/// Reads after the others may have finished.
__global__ void read_late(float* out) {
    __shared__ float own;
    if (threadIdx.x == 0) own = 1;
    hip_on_cpu::cluster_barrier();
    if (hip_on_cpu::cluster_rank() == 0) return;
    while (std::isfinite(*static_cast<float const*>(hip_on_cpu::shared_of_block(&own, 0)))) __threadfence();
    out[0] = 2;
}

bool has_clusters() {
    hipDeviceProp_t properties;
    return hipGetDeviceProperties(&properties, 0) == hipSuccess && properties.major >= 9;
}

hipError_t start(void (*kernel)(float*), unsigned blocks, unsigned cluster, float* out) {
    void* arguments[] = {&out};
    return hip_on_cpu::launch_clusters(kernel, dim3(blocks), dim3(threads), cluster, arguments, 0, nullptr);
}

}  // namespace

TEST_CASE("blocks of a cluster read each other's shared memory") {
    std::vector<float> out(8 * threads, 0);
    if (!has_clusters()) {
        CHECK(start(add_up, 8, 4, out.data()) == hipErrorInvalidValue);
        CHECK(hipGetLastError() == hipErrorInvalidValue);
        return;
    }
    for (unsigned const cluster : {1u, 2u, 4u, 8u}) {
        float* device = nullptr;
        REQUIRE(hipMalloc(reinterpret_cast<void**>(&device), out.size() * sizeof(float)) == hipSuccess);
        REQUIRE(start(add_up, 8, cluster, device) == hipSuccess);
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
    CHECK(start(add_up, 16, 16, out.data()) == hipErrorInvalidConfiguration);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
}

TEST_CASE("the shared memory of a block that has finished is NaN") {
    if (!has_clusters()) return;
    float* device = nullptr;
    REQUIRE(hipMalloc(reinterpret_cast<void**>(&device), sizeof(float)) == hipSuccess);
    REQUIRE(start(read_late, 2, 2, device) == hipSuccess);
    float out = 0;
    REQUIRE(hipMemcpy(&out, device, sizeof out, hipMemcpyDeviceToHost) == hipSuccess);
    CHECK(out == 2);
    CHECK(hipFree(device) == hipSuccess);
}
