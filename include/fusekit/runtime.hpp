// SPDX-License-Identifier: MIT
#pragma once

/// Plans that are compiled in advance and chosen at run time. The device's umbrella, fusekit.hpp or hip.hpp, comes
/// before it in a unit that compiles plans.
// As in fusekit.hpp, g++ warns of names that are a user's too.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
#include "fusekit/runtime/plan_set.hpp"
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
