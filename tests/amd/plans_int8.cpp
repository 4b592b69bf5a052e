// SPDX-License-Identifier: MIT
#include "plans.hpp"

using namespace amd;

template struct amd::Kernels<fk::int8, Plan<C, B, A<fk::Relu>, Q>, Plan<C, Q, R, A<fk::ClippedRelu>>,
                             Plan<G, B, A<fk::Relu>, Q>, Plan<BG, Q>>;
