// SPDX-License-Identifier: MIT
#pragma once

/// Headers that every unit with a mainloop of a convolution or product includes: libnvrtc precompiles them.
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/runtime/kernel.hpp"
