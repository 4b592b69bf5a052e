// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/tensor/weights.hpp"

namespace fusekit {

/// Format in which a float is multiplied as the sum of three bfloat16: x0 is x rounded to bfloat16, x1 the rounded
/// remainder x - x0, and x2 the rounded remainder x - x0 - x1.
struct bfloat16x3 {};

/// Format in which a float has 11 significant bits, stored in 32: NVIDIA's TF32, AMD's XF32.
struct tf32 {
    std::uint32_t bits;
};

/// Option of a Conv or Gemm: the format in which a GPU multiplies floats. Default: the fastest format whose error is
/// within that of a chain of float additions, K 2^-24 sum |x w| for K products.
///
///   Products<float>       unmodified factors, accumulated in such a chain: FMA instructions, or AMD's FP32 MFMA
///   Products<bfloat16x3>  split factors on tensor cores of sm_90a; error at most (13 + K / 32) 2^-24 sum |x w|
///                         (backend/hip/mma/bf16x6.hpp); an infinite factor, or one above 3.39e38, makes the sums
///                         that include it NaN
///   Products<tf32>        factors rounded to TF32 on matrix units of gfx942, and of NVIDIA GPUs from compute
///                         capability 8.0 on; error at most (2^-9 + 2^-20 + K 2^-23) sum |x w|
///
/// GPUs without such matrix units, and the host, multiply unmodified factors, which is within the bounds of both
/// formats. half, bfloat16 and int8 values are exact in TF32: for them the option changes nothing, except for
/// Products<float> with half on gfx90a. The matrix units of gfx90a flush subnormal halves, below 2^-14 in magnitude, to
/// 0; with Products<float> the kernel uses FMA instructions, which are slower and keep subnormals. Without the option,
/// a TransposedConv on gfx90a multiplies halves rounded to bfloat16, because gradients need the exponent range; a
/// ConvWeightGradient on gfx90a always does.
///
/// Derivation of the TF32 bound, for normal numbers: a factor is rounded to nearest or, on gfx942, possibly towards
/// zero, with relative error 2^-10; a product has 2^-9 + 2^-20. A matrix unit adds at least 4 products to an
/// accumulator at once, with an error of 2^-23 of the accumulator's size, which is below 2 sum |x w|.
template <class T>
struct Products {
    using Factor = T;
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, bfloat16x3> || std::is_same_v<T, tf32>,
                  "Products are of float, bfloat16x3 or tf32");
};

namespace detail {

template <class T>
struct HeadOption<Products<T>> : HeadOption<void> {
    using Factor = typename Products<T>::Factor;
    FUSEKIT_H static Text written() {
        return std::is_same_v<T, float>  ? "Products<float>"
               : std::is_same_v<T, tf32> ? "Products<tf32>"
                                         : "Products<bfloat16x3>";
    }
};

/// Type: format of a head's option Products, in which floats of x and weights are multiplied; void if the backend
/// chooses.
template <class Head>
struct FactorOf {
    using Type = void;
};
template <class Head>
    requires requires { typename Head::FloatFactor; }
struct FactorOf<Head> {
    using Type = typename Head::FloatFactor;
};

}  // namespace detail

}  // namespace fusekit
