// SPDX-License-Identifier: MIT
#include <hip/hip_runtime.h>

/// A kernel without findings.
__global__ void modest(float* x) { x[threadIdx.x] *= 2.0f; }

/// Keeps N values per thread live at once, more than there are VGPRs.
template <int N, int Threads>
__global__ void __launch_bounds__(Threads) crowded(float* x, float const* factors, int n) {
    float value[N];
#pragma unroll
    for (int i = 0; i < N; ++i) value[i] = x[i * Threads + threadIdx.x];
    for (int step = 0; step < n; ++step) {
#pragma unroll
        for (int i = 0; i < N; ++i) value[i] = value[i] * factors[step] + value[(i + 1) % N];
    }
#pragma unroll
    for (int i = 0; i < N; ++i) x[i * Threads + threadIdx.x] = value[i];
}

/// Keeps N uniform values live at once, more than there are SGPRs.
template <int N>
__global__ void scalars(int* x, int n) {
    int value[N];
#pragma unroll
    for (int i = 0; i < N; ++i) asm volatile("s_add_u32 %0, %1, %1" : "=s"(value[i]) : "s"(n + i));
#pragma unroll
    for (int i = 0; i < N; ++i) asm volatile("s_mov_b32 s0, %0" : : "s"(value[i]) : "s0");
    x[threadIdx.x] = value[0];
}

/// Array with a run-time index, which is placed in scratch memory.
__global__ void indexed(float* x, int const* at, int n) {
    float value[32] = {};
    for (int i = 0; i < n; ++i) value[at[i] & 31] += x[i];
    for (int i = 0; i < 32; ++i) x[i] = value[i];
}

/// One block of 64 threads uses all LDS: one wave on one of the SIMDs.
__global__ void __launch_bounds__(64) lonely(float* x, int const* at) {
    __shared__ float shared[16384];
    for (int i = 0; i < 16384; i += 64) shared[i + threadIdx.x] = x[i];
    __syncthreads();
    x[threadIdx.x] = shared[at[threadIdx.x]];
}

void launch(float* x, int* at) {
    modest<<<1, 64>>>(x);
    crowded<200, 1024><<<1, 1024>>>(x, x, 3);
    scalars<120><<<1, 64>>>(at, 3);
    indexed<<<1, 64>>>(x, at, 3);
    lonely<<<1, 64>>>(x, at);
}
