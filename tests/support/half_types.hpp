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

}  // namespace test
