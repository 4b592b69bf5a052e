// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/resample/pixel_shuffle.hpp"
#include "fusekit/ops/resample/upsample.hpp"
