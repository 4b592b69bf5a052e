// SPDX-License-Identifier: MIT
#pragma once

/// Plans compiled in advance and selected at run time. A unit that compiles plans includes the device's umbrella,
/// fusekit.hpp or hip.hpp, first.
/// As in fusekit.hpp, g++ warns about locals that shadow a user's globals.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
#include "fusekit/runtime/plan_set.hpp"
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
