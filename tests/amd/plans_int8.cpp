// SPDX-License-Identifier: MIT
#include "plans.hpp"

using namespace amd;

template struct amd::Kernels<fk::int8, Plan<C, B, Q, R, A<fk::ClippedRelu>>, Plan<BG, B, A<fk::Relu>, Q>>;
