// SPDX-License-Identifier: MIT
//
// The headers compile after other libraries' macros; calls of fk::math with a macro's name are parenthesised.
#include "other_macros.h"
// included after the macros
#ifdef HIP
#include <fusekit/hip_conv.hpp>
// included after hip_conv.hpp, which is a part of it
#include <fusekit/hip.hpp>
#else
#include <fusekit/layer.hpp>
// included after layer.hpp, which declares a part of it
#include <fusekit/fusekit.hpp>
#endif
#include <fusekit/runtime.hpp>
#include <fusekit/runtime/gradient_operator.hpp>
#include <fusekit/runtime/ready_made.hpp>
#include <fusekit/runtime/row_operator.hpp>

namespace fk = fusekit;

static_assert((fk::math::max)(1.0f, 2.0f) == 2 && (fk::math::min)(1.0f, 2.0f) == 1 && (fk::math::abs)(-1.0f) == 1);
