// expect: statistics are not valid after a BatchedGemm, whose tiles end with each matrix, nor MergedStatistics after a Conv or Gemm: put them in the next Plan
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
using Products = fk::Plan<fk::BatchedGemm, fk::Bias>;
#else
using Products = fk::Plan<fk::BatchedGemm, fk::Bias, fk::ChannelStatistics>;
#endif
static_assert(sizeof(Products) > 0);
