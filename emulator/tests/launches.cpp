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

/// Argument with the alignment of a tensor map and an odd number of bytes.
struct Scale {
    alignas(64) int* out;
    int factors[5];
};
__global__ void store_scaled(Scale scale) {
    unsigned const i = blockIdx.x * blockDim.x + threadIdx.x;
    scale.out[i] = scale.factors[i % 5] * static_cast<int>(i);
    scale.factors[i % 5] = 0;  // the thread's own copy
}

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

TEST_CASE("an AnyKernel runs with a copy of its argument at the launch") {
    std::vector<int> out(15, -1);
    Scale scale{out.data(), {1, 2, 3, 4, 5}};
    void* arguments[] = {&scale};
    auto const kernel = hip_on_cpu::any_kernel(store_scaled);
    hipStream_t stream;
    REQUIRE(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking) == hipSuccess);
    REQUIRE(hipLaunchKernel(kernel, dim3(3), dim3(5), arguments, 0, stream) == hipSuccess);
    scale = {nullptr, {}};
    REQUIRE(hipStreamSynchronize(stream) == hipSuccess);
    CHECK(out == std::vector<int>{0, 2, 6, 12, 20, 5, 12, 21, 32, 45, 10, 22, 36, 52, 70});

    scale = {out.data(), {-1, -1, -1, -1, -1}};
    REQUIRE(hipLaunchCooperativeKernel(kernel, dim3(1), dim3(5), arguments, 0, nullptr) == hipSuccess);
    CHECK(out == std::vector<int>{0, -1, -2, -3, -4, 5, 12, 21, 32, 45, 10, 22, 36, 52, 70});
    CHECK(hipLaunchKernel(kernel, dim3(1), dim3(2000), arguments, 0, nullptr) == hipErrorInvalidConfiguration);
    CHECK(hipLaunchKernel(kernel, dim3(1), dim3(5), arguments, 60000, nullptr) == hipErrorInvalidConfiguration);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
    CHECK(hipStreamDestroy(stream) == hipSuccess);
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
