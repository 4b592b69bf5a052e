// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/tensor/weights.hpp"

namespace fusekit {

/// Factors of products of floats, beside float itself. A float as the sum of three bfloat16: x0 is the bfloat16 nearest
/// to it, x1 the one nearest to what x0 leaves, and x2 to what both leave.
struct bfloat16x3 {};

/// A float of 11 significant bits, in the place of a float: NVIDIA's TF32, AMD's XF32.
struct tf32 {
    std::uint32_t bits;
};

/// An option of a Conv and of a Gemm: how a GPU multiplies floats. Without it, in the fastest way whose errors are
/// bounded as those of a chain of float additions are, K 2^-24 sum |x w| for K products.
///
///   Products<float>       factors as they are, in such a chain: plain arithmetic, or AMD's matrix units of float
///   Products<bfloat16x3>  factors split, where matrix units take them so, on sm_90a; errors are at most
///                         (13 + K / 32) 2^-24 sum |x w| (backend/hip/atom/bf16x6.hpp); an infinite factor, or one
///                         above 3.39e38, makes the sums that it is part of NaN
///   Products<tf32>        factors cut to TF32, where matrix units take them so, on gfx942 and on NVIDIA's GPUs from
///                         compute capability 8.0 on; errors are at most (2^-9 + 2^-20 + K 2^-23) sum |x w|
///
/// Elsewhere, and on the host, factors are as they are, which is within either bound. Values of half, bfloat16 and int8
/// are TF32: where plans multiply those, the option changes nothing, but for Products<float> of halves on gfx90a, whose
/// matrix units take subnormal halves, those below 2^-14 in magnitude, as 0: there it is plain arithmetic, which is
/// slower and loses none. A TransposedConv without it multiplies halves rounded to bfloat16 there, as gradients need
/// their range; a ConvWeightGradient always does.
///
/// The bound for TF32, of numbers that are not denormal: a factor is rounded to the nearest, or, on gfx942, perhaps
/// towards zero, and errs by 2^-10 of itself; a product by 2^-9 + 2^-20. A unit adds at least 4 products to a sum at
/// once, and errs by 2^-23 of the sum's size, which is less than 2 sum |x w|.
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

/// How the user wants floats to be multiplied that a head has of x and its weights; void where the backend chooses.
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
