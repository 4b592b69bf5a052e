// SPDX-License-Identifier: MIT
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

__global__ void saxpy(int n, float a, float const* x, float* y) {
    int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) y[i] = a * x[i] + y[i];
}

int main() {
    int const n = 1000;
    std::size_t const bytes = n * sizeof(float);
    std::vector<float> x(n, 2), y(n, 1);
    float *device_x, *device_y;
    if (hipMalloc(&device_x, bytes) != hipSuccess || hipMalloc(&device_y, bytes) != hipSuccess) return 1;
    (void)hipMemcpy(device_x, x.data(), bytes, hipMemcpyHostToDevice);
    (void)hipMemcpy(device_y, y.data(), bytes, hipMemcpyHostToDevice);

    hipLaunchKernelGGL(saxpy, dim3(4), dim3(256), 0, nullptr, n, 3.0f, device_x, device_y);

    if (hipMemcpy(y.data(), device_y, bytes, hipMemcpyDeviceToHost) != hipSuccess) return 1;
    (void)hipFree(device_x);
    (void)hipFree(device_y);
    std::printf("y[999] = %g\n", y[999]);
    return hipGetLastError() == hipSuccess && y[999] == 7 ? 0 : 1;
}
