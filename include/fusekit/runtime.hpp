// SPDX-License-Identifier: MIT
#pragma once

/// Plans that are compiled in advance and chosen at run time. The device's umbrella, fusekit.hpp or hip.hpp, comes
/// before it in a unit that compiles plans.
#include "fusekit/runtime/plan_set.hpp"
