// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/batch_norm/channel_statistics.hpp"
#include "fusekit/ops/batch_norm/inference.hpp"
#include "fusekit/ops/batch_norm/merged_statistics.hpp"
#include "fusekit/ops/batch_norm/synchronized.hpp"
#include "fusekit/ops/batch_norm/training.hpp"
