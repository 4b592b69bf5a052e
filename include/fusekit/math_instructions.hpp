// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/config.hpp"

/// A GPU's instructions for math.hpp; constant expressions cannot call them. The host pass has declarations only,
/// because config::on_device discards the calls there. fused() is a * b + c with one rounding; power_of_two() and
/// reciprocal() are to about 1 ulp; a result below 2^-126 may be 0.
namespace fusekit::config {

#if defined(__CUDA_ARCH__)
/// powf and sqrtf as functions that --use_fast_math does not replace by approximations. Source: NVIDIA, libdevice
/// User's Guide.
extern "C" __device__ float __nv_powf(float base, float exponent);
__device__ inline float power(float base, float exponent) { return __nv_powf(base, exponent); }
__device__ inline float root(float square) { return __fsqrt_rn(square); }
__device__ inline float reciprocal_root(float square) { return rsqrtf(square); }
__device__ inline float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ inline float power_of_two(float exponent) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(exponent));
    return power;
}
__device__ inline float reciprocal(float value) {
    float quotient;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(quotient) : "f"(value));
    return quotient;
}
#elif defined(__HIP_DEVICE_COMPILE__)
#if defined(__FAST_MATH__)
/// base^exponent, computed in double: under -ffast-math AMD's powf is exp2(exponent * log2(base)) in float, whose error
/// grows with the product.
__device__ inline float power(float base, float exponent) {
    return static_cast<float>(exp2(exponent * log2(static_cast<double>(base))));
}
#else
__device__ inline float power(float base, float exponent) { return powf(base, exponent); }
#endif
__device__ inline float root(float square) { return sqrtf(square); }
__device__ inline float reciprocal_root(float square) { return rsqrtf(square); }
__device__ inline float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#if __has_builtin(__builtin_amdgcn_exp2f)
__device__ inline float power_of_two(float exponent) { return __builtin_amdgcn_exp2f(exponent); }
#else
__device__ inline float power_of_two(float exponent) { return exp2f(exponent); }
#endif
__device__ inline float reciprocal(float value) { return __builtin_amdgcn_rcpf(value); }
#else
FUSEKIT_HD float power(float base, float exponent);
FUSEKIT_HD float root(float square);
FUSEKIT_HD float reciprocal_root(float square);
FUSEKIT_HD float fused(float a, float b, float c);
FUSEKIT_HD float power_of_two(float exponent);
FUSEKIT_HD float reciprocal(float value);
#endif

}  // namespace fusekit::config
