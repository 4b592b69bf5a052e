// SPDX-License-Identifier: MIT
//
// One kernel per elementary function, whose code check_fast_math.py compares with and without fast math.
#include <hip/hip_runtime.h>

#include "fusekit/math.hpp"

namespace math = fusekit::math;

extern "C" __global__ void rounds_exp(float* x) { x[threadIdx.x] = math::exp(x[threadIdx.x]); }
extern "C" __global__ void rounds_expm1(float* x) { x[threadIdx.x] = math::expm1(x[threadIdx.x]); }
extern "C" __global__ void rounds_tanh(float* x) { x[threadIdx.x] = math::tanh(x[threadIdx.x]); }
extern "C" __global__ void rounds_log(float* x) { x[threadIdx.x] = math::log(x[threadIdx.x]); }
extern "C" __global__ void rounds_sin(float* x) { x[threadIdx.x] = math::sin(x[threadIdx.x]); }
extern "C" __global__ void power(float* x, float exponent) { x[threadIdx.x] = math::pow(x[threadIdx.x], exponent); }
