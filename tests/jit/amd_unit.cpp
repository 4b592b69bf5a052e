// SPDX-License-Identifier: MIT
//
// A unit such as src/jit/unit.cpp writes, for AMD's matrix instructions: amd_code.cmake compiles it with the headers
// and with their embedded text.
#include "fusekit/backend/hip/mainloop/implicit_gemm.hpp"
#include "fusekit/backend/hip/runtime/kernel.hpp"
#include "fusekit/backend/hip/schedule/native_gemm.hpp"
#include "fusekit/ops/activation.hpp"
#include "fusekit/ops/bias.hpp"
#include "fusekit/ops/conv.hpp"

namespace fusekit::hip {

using ThePlan = fusekit::detail::FusedPlan<Conv<dynamic>, Bias, Activation<Relu>>;
using TheMainloop = ImplicitGemm<ThePlan, NativeGemm<64, 64, 2, 32>, half, half, fusekit::detail::Axis::channel>;
template __global__ void fused<ThePlan, TheMainloop>(typename TheMainloop::Params);

}  // namespace fusekit::hip
