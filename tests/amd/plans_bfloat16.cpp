// SPDX-License-Identifier: MIT
#include "plans.hpp"

using namespace amd;

template struct amd::Kernels<fk::bfloat16, Plan<C, B, N, R, A<fk::HardSigmoid>>, Plan<C7, B, A<fk::Relu>>,
                             Plan<Depthwise, N, A<fk::Passthru>>, Plan<N, A<fk::Relu>>, Plan<M, A<fk::Relu>>,
                             Plan<R, B, N, A<fk::Gelu>, S>, Plan<TrainN, A<fk::Relu>>, Back<TrainN, A<fk::Relu>>,
                             Plan<TrainM, A<fk::Relu>>, Back<TrainM, A<fk::Elu>>>;
