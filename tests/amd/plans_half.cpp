// SPDX-License-Identifier: MIT
#include "plans.hpp"

using namespace amd;

template struct amd::Kernels<
    fk::half, Plan<N, A<fk::Relu>, C3, B, A<fk::Relu>>, Plan<C, B, N, R, A<fk::Logistic>>, Plan<C, M, A<fk::Elu>>,
    Plan<C3, B, A<fk::Relu>>, Plan<C1, B, A<fk::HardSwish>>, Plan<G, B, A<fk::Gelu>, R>, Plan<BG, B, R>,
    Plan<C, B, R, Statistics, A<fk::Relu>>, Plan<Volume, N, A<fk::Relu>>, Plan<N, A<fk::Relu>>,
    Plan<M, A<fk::SoftRelu>>, Plan<B, A<fk::GeluTanh>>, Plan<N, A<fk::Relu>, MaxWindows>, Plan<R, B, N, A<fk::Gelu>, S>,
    Plan<TrainN, A<fk::Gelu>>, Back<TrainN, A<fk::Relu>>, Plan<TrainM, A<fk::Power>>, Back<TrainM, A<fk::Gelu>>,
    Plan<TrainN, R, A<fk::Relu>>, Back<TrainN, A<fk::Relu>, R>, Back<B, R, A<fk::Relu>>>;
