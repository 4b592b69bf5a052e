// SPDX-License-Identifier: MIT
#include "plans.hpp"

using namespace amd;

template struct amd::Kernels<fk::e4m3, Plan<C, B, fk::Amax, S>, Plan<G, B, S>>;
template struct amd::Kernels<fk::e4m3_fnuz, Plan<C, B, fk::Amax, S>, Plan<G, B, S>>;
