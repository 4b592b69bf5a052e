// SPDX-License-Identifier: MIT
#include "plans.hpp"

using namespace amd;

template struct amd::Kernels<float, Plan<A<EveryActivation>>, Plan<M, A<fk::Power>>, Plan<R, B, N, A<fk::Gelu>, S>,
                             Plan<B, fk::Store, fk::StoreMask, A<fk::Relu>>, Plan<B, A<fk::Relu>, fk::GlobalAverage>,
                             Plan<N, R, AverageWindows>, Plan<TrainM, A<fk::Relu>>, Back<TrainN, R, A<fk::Relu>>>;
template struct amd::KernelsWith<Large, float, Plan<C, S, B, N, A<fk::Mish>, R>,
                                 Plan<Grouped, B, fk::Store, A<fk::Relu>, MaxPool>>;

template struct amd::Kernels<fk::half, Plan<N, A<fk::Relu>, MaxWindows>, Plan<R, B, N, A<fk::Gelu>, S>,
                             Plan<fk::LayerNorm, R, A<fk::Gelu>>, Plan<PaddedWindows>, Plan<TappedWindows>,
                             Plan<TappedGradient>, Plan<AverageGradient, R>, Plan<fk::UpsampleBilinear<2>, B>,
                             Plan<fk::PixelShuffle<2>>>;
template struct amd::KernelsWith<Large, fk::half, Plan<BG, B, R>>;

template struct amd::Kernels<fk::bfloat16, Plan<DepthwiseW3>, Back<TrainM, A<fk::Elu>>>;
template struct amd::KernelsWith<fk::hip::Depthwise<128>, fk::bfloat16, Plan<Depthwise, N, A<fk::Passthru>>>;

template struct amd::Kernels<fk::int8, Plan<R, M, Q>, Plan<N, MaxWindows>>;

// Mainloops and operators of the plans above, in other combinations.
#ifdef AMD_EVERY_PLAN
template struct amd::Kernels<
    float, Plan<B, C>, Plan<Depthwise, B, Statistics, A<fk::Relu>>, Plan<Signal, B, A<fk::Abs>>, Plan<N, A<fk::Relu>>,
    Plan<B, A<fk::Clamp>>, Plan<C3, B, fk::Store, A<fk::Relu>>, Plan<B, A<fk::Relu>, AveragePool>,
    Plan<G, B, A<fk::Relu>>, Plan<BG, B>, Plan<TrainN, A<fk::Relu>>, Plan<N, A<fk::Relu>, Volume, B>,
    Plan<N, A<fk::Relu>, G, B, R>, Back<TrainM, R, A<fk::Relu>>, Plan<GroupedVolume, M, A<fk::Relu>>,
    Plan<G, B, fk::Store, Statistics>, Plan<fk::MergedStatistics>, Back<fk::BatchNormSynchronized, A<fk::Relu>>>;

template struct amd::Kernels<fk::half, Plan<C, M, A<fk::Elu>>, Plan<G, B, A<fk::Gelu>, R>, Plan<N, A<fk::Relu>>,
                             Plan<M, A<fk::SoftRelu>>, Plan<B, A<fk::GeluTanh>>, Plan<TrainM, A<fk::Power>>,
                             Plan<TrainN, R, A<fk::Relu>>, Plan<TrainN, R, A<fk::Gelu>>, Back<B, R, A<fk::Relu>>,
                             Back<TrainN, A<fk::Relu>, R>>;

template struct amd::Kernels<fk::bfloat16, Plan<C7, B, A<fk::Relu>>, Plan<R, B, N, A<fk::Gelu>, S>,
                             Plan<TrainN, A<fk::Relu>>, Plan<DepthwiseX3, B>>;

template struct amd::Kernels<fk::int8, Plan<Volume, B, Q>, Plan<Depthwise, B, Q>, Plan<Q, A<fk::Relu>>,
                             Plan<N, A<fk::LeakyRelu>, Q>>;
#endif
