// SPDX-License-Identifier: MIT
#include "plans.hpp"

using namespace amd;

// One plan of each kind: a convolution, a reduction, and a pointwise plan.
template struct amd::Kernels<float, Plan<C1, B, Statistics>, Plan<TrainN, A<fk::Relu>>, Plan<B, A<fk::Relu>>>;
