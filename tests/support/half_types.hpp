// SPDX-License-Identifier: MIT
#pragma once

#include <tuple>

#include "fusekit/tensor/dtype.hpp"

namespace test {

/// Element types of 16 bits. Kernels of bfloat16 differ from half's in conversions and in the matrix instruction, which
/// tests of their own run: with FEWER_KERNELS (FUSEKIT_FEWER_KERNELS) a program compiles the other kernels for half
/// alone.
#ifdef FEWER_KERNELS
using HalfTypes = std::tuple<fusekit::half>;
#else
using HalfTypes = std::tuple<fusekit::half, fusekit::bfloat16>;
#endif

template <class... Others>
using HalvesAnd = decltype(std::tuple_cat(std::tuple<Others...>{}, HalfTypes{}));

/// bfloat16, or half if a program compiles kernels for half alone.
using LastHalf = std::tuple_element_t<std::tuple_size_v<HalfTypes> - 1, HalfTypes>;

/// Others, and bfloat16 if a program compiles both.
#ifdef FEWER_KERNELS
template <class... Others>
using AndBfloat16 = std::tuple<Others...>;
#else
template <class... Others>
using AndBfloat16 = std::tuple<Others..., fusekit::bfloat16>;
#endif

}  // namespace test
