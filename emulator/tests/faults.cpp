// SPDX-License-Identifier: MIT
// A program whose kernel has the fault that argv[1] names.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <string>

#include "hip_on_cpu/cluster.hpp"
#include "hip_on_cpu/sm90a.hpp"

namespace {

__global__ void two_barriers(int) {
    if (threadIdx.x < 10) __syncthreads();  // threads 0 to 9
    else __syncthreads();  // threads 10 to 63
}

__global__ void some_finish(int) {
    if (threadIdx.x >= 48) return;
    __syncthreads();  // the only one
}

__global__ void two_shuffles(int) {
    int const there = threadIdx.x % 2 ? __shfl(1, 0)  // odd lanes
                                      : __shfl(2, 0);  // even lanes
    if (there < 0) std::puts("never");
}

__global__ void shuffle_and_barrier(int) {
    if (threadIdx.x == 7) __syncthreads();  // one lane
    else __shfl(1, 0);  // the other lanes
}

__global__ void reads_beyond(int* memory) {
    if (memory[4] == 12345) std::puts("unlikely");
}

__global__ void waits_for_nothing(int) {
    HIP_DYNAMIC_SHARED(unsigned char, memory)
    auto const barrier = hip_on_cpu::sm90a::shared_address(memory);
    if (threadIdx.x == 0) hip_on_cpu::sm90a::mbarrier_init(barrier, 2);
    __syncthreads();
    if (threadIdx.x == 0) hip_on_cpu::sm90a::mbarrier_arrive(barrier);
    // waits for a second arrival, which never occurs
    if (threadIdx.x < 16) hip_on_cpu::sm90a::mbarrier_wait(barrier, 0);
}

__global__ void no_barrier(int) {
    HIP_DYNAMIC_SHARED(unsigned char, memory)
    hip_on_cpu::sm90a::mbarrier_arrive(hip_on_cpu::sm90a::shared_address(memory));  // without mbarrier_init()
}

__global__ void two_products(int) {
    float sums[4];
    auto const factor = hip_on_cpu::sm90a::Factor::half;
    // different operands in the two halves of the warpgroup
    hip_on_cpu::sm90a::wgmma(sums, 8, threadIdx.x < 64 ? 0 : 64, 0, false, factor);
}

__global__ void no_such_instruction(int) { hip_on_cpu::amd::mfma_f32_32x32x8f16({}, {}, {}); }

__global__ void no_mma_sync(int) {
    float sums[4] = {};
    hip_on_cpu::sm80::mma_sync<hip_on_cpu::Factor::half>(sums, {}, {});
}

__global__ void other_copies(int) {
    hip_on_cpu::amd::Words<8> a{};
    a[7] = threadIdx.x;
    hip_on_cpu::amd::wmma_f32_16x16x16_f16(a, {}, {});
}

__global__ void same_indices(int) { hip_on_cpu::amd::smfmac_i32_32x32x32_i8({}, {}, {}, 0); }

__global__ void leaves_cluster(int) {
    if (blockIdx.x == 1) hip_on_cpu::cluster_barrier();
}

__global__ void arrives_early(int) {
    HIP_DYNAMIC_SHARED(unsigned char, memory)
    auto const barrier = hip_on_cpu::sm90a::shared_address(memory);
    if (threadIdx.x == 0) hip_on_cpu::sm90a::mbarrier_init(barrier, 1);
    // a cluster barrier is missing here
    if (blockIdx.x == 1 && threadIdx.x == 0)
        hip_on_cpu::sm90a::mbarrier_arrive_cluster(hip_on_cpu::sm90a::mapa(barrier, 0));
    hip_on_cpu::cluster_barrier();
}

hipError_t launch_cluster(void (*kernel)(int)) {
    int argument = 0;
    void* arguments[] = {&argument};
    return hip_on_cpu::launch_clusters(kernel, dim3(2), dim3(64), 2, arguments, 1024, nullptr);
}

template <class T>
hipError_t launch(void (*kernel)(T), T argument, unsigned threads = 64) {
    void* arguments[] = {&argument};
    return hipLaunchKernel(kernel, dim3(2), dim3(threads), arguments, 1024, nullptr);
}

}  // namespace

int main(int, char** argv) {
    std::string const what = argv[1];
    if (what == "two_barriers") return launch(two_barriers, 0);
    if (what == "some_finish") return launch(some_finish, 0);
    if (what == "two_shuffles") return launch(two_shuffles, 0);
    if (what == "shuffle_and_barrier") return launch(shuffle_and_barrier, 0);
    if (what == "waits_for_nothing") return launch(waits_for_nothing, 0);
    if (what == "leaves_cluster") return launch_cluster(leaves_cluster);
    if (what == "arrives_early") return launch_cluster(arrives_early);
    if (what == "no_barrier") return launch(no_barrier, 0);
    if (what == "two_products") return launch(two_products, 0, 128);
    if (what == "no_such_instruction") return launch(no_such_instruction, 0);
    if (what == "no_mma_sync") return launch(no_mma_sync, 0);
    if (what == "other_copies") return launch(other_copies, 0);
    if (what == "same_indices") return launch(same_indices, 0);
    if (what == "reads_beyond") {
        int* memory;
        if (hipMalloc(&memory, 4 * sizeof(int)) != hipSuccess) return 1;
        return launch(reads_beyond, memory);
    }
    return 1;
}
