// SPDX-License-Identifier: MIT
#include "host.hpp"

template struct fusekit_torch::OnHost<float>;
