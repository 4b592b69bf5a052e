// SPDX-License-Identifier: MIT
// Forms of kernel launches, and blocks that synchronize.
#include <hip/hip_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <vector>

namespace {

template <class T, int Times>
__global__ void add_place(T* out, T more) {
    out[blockIdx.x * blockDim.x + threadIdx.x] += static_cast<T>(Times) * static_cast<T>(blockIdx.x) + more;
}

/// Kernel: every block adds 1 to a counter, polls it until all blocks have added, and writes the sum.
__global__ void all_arrive(int* arrived, int* out) {
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < static_cast<int>(gridDim.x)) __threadfence();
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(arrived, 0);
}

__global__ void nothing() {}

}  // namespace

TEST_CASE("hipLaunchKernelGGL passes its arguments as the kernel's parameters") {
    std::vector<double> values(6, 0.5);
    hipLaunchKernelGGL(HIP_KERNEL_NAME(add_place<double, 10>), dim3(3), 2, 0, nullptr, values.data(), 1);
    CHECK(hipGetLastError() == hipSuccess);
    CHECK(values == std::vector<double>{1.5, 1.5, 11.5, 11.5, 21.5, 21.5});
    hipLaunchKernelGGL(nothing, 0, 2, 0, nullptr);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
    hipLaunchKernelGGL(nothing, 1, 2, 4, nullptr);  // with dynamic shared memory
    CHECK(hipGetLastError() == hipSuccess);
}

TEST_CASE("a kernel without its type is refused") {
    CHECK(hipLaunchKernel(reinterpret_cast<void const*>(&nothing), 1, 1, nullptr, 0, nullptr) ==
          hipErrorInvalidDeviceFunction);
    CHECK(hipGetLastError() == hipErrorInvalidDeviceFunction);
}

TEST_CASE("blocks of a cooperative launch synchronize with each other") {
    unsigned const blocks = 16, threads = 40;
    std::vector<int> out(blocks * threads);
    int arrived = 0;
    int *counter = &arrived, *results = out.data();
    void* arguments[] = {&counter, &results};
    REQUIRE(hipLaunchCooperativeKernel(all_arrive, blocks, threads, arguments, 0, nullptr) == hipSuccess);
    CHECK(out == std::vector<int>(blocks * threads, static_cast<int>(blocks)));

    CHECK(hipLaunchCooperativeKernel(nothing, 8, 1024, arguments, 0, nullptr) == hipSuccess);
    CHECK(hipLaunchCooperativeKernel(nothing, 9, 1024, arguments, 0, nullptr) == hipErrorCooperativeLaunchTooLarge);
    CHECK(hipGetLastError() == hipErrorCooperativeLaunchTooLarge);
}
