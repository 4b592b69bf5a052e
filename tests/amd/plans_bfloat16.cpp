// SPDX-License-Identifier: MIT
#include "plans.hpp"

using namespace amd;

// Arithmetic is in float, as of half, whose kernels are those of every form.
template struct amd::Kernels<fk::bfloat16, Plan<C, B, N, R, A<fk::HardSigmoid>>, Plan<C7, B, A<fk::Relu>>,
                             Plan<Depthwise, N, A<fk::Passthru>>, Plan<R, B, N, A<fk::Gelu>, S>,
                             Plan<TrainN, A<fk::Relu>>, Back<TrainM, A<fk::Elu>>>;
