// SPDX-License-Identifier: MIT
#pragma once

/// Umbrella of runtime/: plans that are compiled in advance and selected at run time. A unit that compiles plans
/// includes the device's umbrella, fusekit.hpp or hip.hpp, before this one.
// g++ warns about a local variable of this library that shadows a global one of the user.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
#include "fusekit/runtime/plan_set.hpp"
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
