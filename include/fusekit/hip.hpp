// SPDX-License-Identifier: MIT
#pragma once

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

#include "fusekit/plan/backward.hpp"

// g++ warns about a sign conversion if an array bound is an int that depends on template arguments.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif
#include "fusekit/backend/hip/dispatch/list.hpp"

#include "fusekit/fusekit.hpp"

#include "fusekit/backend/hip/runtime/device_code.hpp"
#include "fusekit/backend/hip/dispatch/prepare.hpp"
#include "fusekit/backend/hip/dispatch/with_layouts.hpp"
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
// clang-format on

#endif
