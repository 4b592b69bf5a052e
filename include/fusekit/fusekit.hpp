// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/config.hpp"

#if __cplusplus >= 202002L  // older standards are an error in config.hpp, but clang continues to parse

// g++ warns about a local variable of this library that shadows a global one of the user.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

// Headers with static_asserts are included before headers that include them, because compilers print the include stack
// of an error.
// clang-format off
#include "fusekit/tensor/view.hpp"
#include "fusekit/tensor/collapse.hpp"
#include "fusekit/tensor/required.hpp"
#include "fusekit/tensor/tensor.hpp"

#include "fusekit/ops/activation.hpp"
#include "fusekit/ops/activation_slope.hpp"
#include "fusekit/ops/amax.hpp"
#include "fusekit/ops/batch_norm.hpp"
#include "fusekit/ops/bias.hpp"
#include "fusekit/ops/binary.hpp"
#include "fusekit/ops/conv.hpp"
#include "fusekit/ops/conv/transposed.hpp"
#include "fusekit/ops/conv/weight_gradient.hpp"
#include "fusekit/ops/gemm.hpp"
#include "fusekit/ops/group_norm.hpp"
#include "fusekit/ops/gemm/batched.hpp"
#include "fusekit/ops/requantize.hpp"
#include "fusekit/ops/pool.hpp"
#include "fusekit/ops/pool/gradient.hpp"
#include "fusekit/ops/resample.hpp"
#include "fusekit/ops/residual.hpp"
#include "fusekit/ops/row_norm.hpp"
#include "fusekit/ops/scale.hpp"
#include "fusekit/ops/softmax.hpp"
#include "fusekit/ops/store.hpp"

#include "fusekit/plan/other_names.hpp"
#include "fusekit/plan/is_operator.hpp"
#include "fusekit/plan/ordering.hpp"
#include "fusekit/plan/runs_on.hpp"
#include "fusekit/plan/call.hpp"
#include "fusekit/plan/weight_gradient.hpp"
#include "fusekit/plan/prepared.hpp"
#include "fusekit/plan/bound_plan.hpp"
#include "fusekit/plan/plan.hpp"

#include "fusekit/backend/host/whole_vectors.hpp"
#include "fusekit/backend/host/run.hpp"
#include "fusekit/backend/host/packed.hpp"
#include "fusekit/layer.hpp"
#include "fusekit/plan/backward.hpp"
#include "fusekit/plan/describe.hpp"
#include "fusekit/tensor/transform.hpp"
// clang-format on

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#endif
