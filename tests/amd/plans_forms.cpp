// SPDX-License-Identifier: MIT
#include "plans.hpp"

using namespace amd;

template struct amd::Kernels<
    float, Plan<C, S, B, N, A<fk::Mish>, R>, Plan<Signal, B, A<fk::Abs>>, Plan<GroupedVolume, M, A<fk::Relu>>,
    Plan<B, C>, Plan<N, A<fk::Relu>, Volume, B>, Plan<A<EveryActivation>>, Plan<N, A<fk::Relu>>, Plan<M, A<fk::Power>>,
    Plan<B, A<fk::Clamp>>, Plan<R, B, N, A<fk::Gelu>, S>, Plan<B, fk::Store, fk::StoreMask, A<fk::Relu>>,
    Plan<C3, B, fk::Store, A<fk::Relu>>, Plan<Grouped, B, fk::Store, A<fk::Relu>, MaxPool>,
    Plan<B, A<fk::Relu>, AveragePool>, Plan<B, A<fk::Relu>, fk::GlobalAverage>, Plan<N, R, AverageWindows>,
    Plan<G, B, A<fk::Relu>>, Plan<N, A<fk::Relu>, G, B, R>, Plan<BG, B>, Plan<G, B, fk::Store, Statistics>,
    Plan<Depthwise, B, Statistics, A<fk::Relu>>, Plan<TrainN, A<fk::Relu>>, Plan<TrainM, A<fk::Relu>>,
    Back<TrainN, R, A<fk::Relu>>, Back<TrainM, R, A<fk::Relu>>>;

template struct amd::Kernels<
    fk::half, Plan<C, M, A<fk::Elu>>, Plan<G, B, A<fk::Gelu>, R>, Plan<BG, B, R>, Plan<N, A<fk::Relu>>,
    Plan<M, A<fk::SoftRelu>>, Plan<B, A<fk::GeluTanh>>, Plan<N, A<fk::Relu>, MaxWindows>, Plan<R, B, N, A<fk::Gelu>, S>,
    Plan<TrainM, A<fk::Power>>, Plan<TrainN, R, A<fk::Gelu>>, Back<TrainN, A<fk::Relu>, R>, Back<B, R, A<fk::Relu>>>;

template struct amd::Kernels<fk::bfloat16, Plan<C7, B, A<fk::Relu>>, Plan<Depthwise, N, A<fk::Passthru>>,
                             Plan<R, B, N, A<fk::Gelu>, S>, Plan<TrainN, A<fk::Relu>>, Back<TrainM, A<fk::Elu>>>;

template struct amd::Kernels<fk::int8, Plan<Volume, B, Q>, Plan<Depthwise, B, Q>, Plan<Q, A<fk::Relu>>, Plan<R, M, Q>,
                             Plan<N, A<fk::LeakyRelu>, Q>, Plan<N, MaxWindows>>;
