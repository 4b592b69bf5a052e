// SPDX-License-Identifier: MIT
#pragma once

// In the order of the layers: the rules of a plan, which a compiler quotes together with the path of includes that
// led to them, are one step from here.
#include "fusekit/ops/activation.hpp"
#include "fusekit/ops/batch_norm.hpp"
#include "fusekit/ops/bias.hpp"
#include "fusekit/ops/conv.hpp"
#include "fusekit/ops/residual.hpp"
#include "fusekit/ops/scale.hpp"

#include "fusekit/plan/ordering.hpp"

#include "fusekit/plan/describe.hpp"
#include "fusekit/plan/plan.hpp"

#include "fusekit/backend/host/run.hpp"
