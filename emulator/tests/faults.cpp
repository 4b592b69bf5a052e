// SPDX-License-Identifier: MIT
// A program that ends by what its kernel does wrong: argv[1] says what.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <string>

namespace {

__global__ void two_barriers(int) {
    if (threadIdx.x < 10) __syncthreads();  // the first
    else __syncthreads();                   // the second
}

__global__ void some_finish(int) {
    if (threadIdx.x >= 48) return;
    __syncthreads();  // the only one
}

__global__ void two_shuffles(int) {
    int const there = threadIdx.x % 2 ? __shfl(1, 0)   // of odd lanes
                                      : __shfl(2, 0);  // of even lanes
    if (there < 0) std::puts("never");
}

__global__ void shuffle_and_barrier(int) {
    if (threadIdx.x == 7) __syncthreads();  // of one
    else __shfl(1, 0);                      // of the others
}

__global__ void reads_beyond(int* memory) {
    if (memory[4] == 12345) std::puts("unlikely");
}

template <class T>
hipError_t launch(void (*kernel)(T), T argument) {
    void* arguments[] = {&argument};
    return hipLaunchKernel(kernel, dim3(2), dim3(64), arguments, 0, nullptr);
}

}  // namespace

int main(int, char** argv) {
    std::string const what = argv[1];
    if (what == "two_barriers") return launch(two_barriers, 0);
    if (what == "some_finish") return launch(some_finish, 0);
    if (what == "two_shuffles") return launch(two_shuffles, 0);
    if (what == "shuffle_and_barrier") return launch(shuffle_and_barrier, 0);
    if (what == "reads_beyond") {
        int* memory;
        if (hipMalloc(&memory, 4 * sizeof(int)) != hipSuccess) return 1;
        return launch(reads_beyond, memory);
    }
    return 1;
}
