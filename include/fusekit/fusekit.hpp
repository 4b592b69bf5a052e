// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/run.hpp"
#include "fusekit/ops/activation.hpp"
#include "fusekit/ops/batch_norm.hpp"
#include "fusekit/ops/bias.hpp"
#include "fusekit/ops/conv.hpp"
#include "fusekit/ops/residual.hpp"
#include "fusekit/ops/scale.hpp"
#include "fusekit/plan/describe.hpp"
#include "fusekit/plan/plan.hpp"
