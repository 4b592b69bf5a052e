// SPDX-License-Identifier: MIT
#pragma once

/// HIP's runtime API for hipRTC, whose own declarations are of device functions alone: the backend's names of CUDA's,
/// which code of the host uses and device code does not call.
#include "fusekit/backend/hip/runtime/cuda_names.hpp"
