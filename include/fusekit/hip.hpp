// SPDX-License-Identifier: MIT
#pragma once

// Before what includes it too, as in fusekit.hpp.
#include "fusekit/plan/ordering.hpp"

#include "fusekit/fusekit.hpp"

#include "fusekit/backend/hip/run.hpp"
