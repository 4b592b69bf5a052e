// SPDX-License-Identifier: MIT
#pragma once

// Umbrella for programs whose plans all have a Conv or Gemm and run on a GPU: hip.hpp without the host backend, weight
// gradients, statistics, elementwise and pooling plans. A compiler reads a quarter less.

#include "fusekit/config.hpp"

#if __cplusplus >= 202002L  // as in fusekit.hpp

// Disables the warning that fusekit.hpp names.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

// Headers with static_asserts come first, as in fusekit.hpp.
// clang-format off
#include "fusekit/tensor/view.hpp"
#include "fusekit/tensor/collapse.hpp"
#include "fusekit/tensor/tensor.hpp"

#include "fusekit/plan/is_operator.hpp"
#include "fusekit/plan/ordering.hpp"
#include "fusekit/plan/runs_on.hpp"
#include "fusekit/plan/call.hpp"
#include "fusekit/plan/prepared.hpp"
#include "fusekit/plan/plan.hpp"
#include "fusekit/backend/hip/runtime/accepts_all.hpp"

#include "fusekit/plan/backward.hpp"

// g++ warns about a sign conversion if an array bound is an int that depends on template arguments.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif
#include "fusekit/backend/hip/dispatch/list.hpp"

#include "fusekit/ops/activation.hpp"
#include "fusekit/ops/activation_slope.hpp"
#include "fusekit/ops/amax.hpp"
#include "fusekit/ops/batch_norm.hpp"
#include "fusekit/ops/bias.hpp"
#include "fusekit/ops/conv.hpp"
#include "fusekit/ops/conv/transposed.hpp"
#include "fusekit/ops/conv/weight_gradient.hpp"
#include "fusekit/ops/gemm.hpp"
#include "fusekit/ops/group_norm.hpp"
#include "fusekit/ops/gemm/batched.hpp"
#include "fusekit/ops/requantize.hpp"
#include "fusekit/ops/pool.hpp"
#include "fusekit/ops/residual.hpp"
#include "fusekit/ops/scale.hpp"
#include "fusekit/ops/store.hpp"
#include "fusekit/plan/other_names.hpp"
#include "fusekit/plan/weight_gradient.hpp"
#include "fusekit/plan/bound_plan.hpp"
#include "fusekit/plan/describe.hpp"
#include "fusekit/tensor/required.hpp"
#include "fusekit/tensor/transform.hpp"
#include "fusekit/layer.hpp"

#include "fusekit/backend/hip/runtime/device_code.hpp"
#include "fusekit/backend/hip/dispatch/prepare_conv.hpp"
#include "fusekit/backend/hip/dispatch/with_layouts.hpp"
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
// clang-format on

#endif
