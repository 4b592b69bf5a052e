// SPDX-License-Identifier: MIT
#include "plans_int8.cpp"

template struct amd::Kernels<fk::half, Plan<N, A<fk::Relu>, C3, B, A<fk::Relu>>, Plan<C, B, N, R, A<fk::Logistic>>,
                             Plan<C3, B, A<fk::Relu>>, Plan<C1, B, A<fk::HardSwish>>,
                             Plan<C, B, R, Statistics, A<fk::Relu>>, Plan<X3, fk::ActivationSlope<fk::Relu>>, Plan<W3>,
                             Plan<W3Stride2>>;

// Epilogues of bfloat16 compute in float, like those of half.
template struct amd::Kernels<fk::bfloat16, Plan<C, B, N, R, A<fk::HardSigmoid>>, Plan<W3>>;

// Some targets multiply floats on matrix units. gfx1100 represents the others.
#if !defined(__gfx1030__) && !defined(__gfx1201__)
template struct amd::Kernels<float, Plan<N, A<fk::Relu>, C3, B, A<fk::Relu>>, Plan<C1, B, R, A<fk::HardSwish>>,
                             Plan<W3, S, R>>;
#endif
#ifdef __gfx942__
template struct amd::Kernels<float, Plan<fk::Conv<fk::filter(3, 3).pad(1), fk::Products<fk::tf32>>, B, A<fk::Relu>>>;
#endif
