// SPDX-License-Identifier: MIT
#include "plans_int8.cpp"

template struct amd::Kernels<fk::half, Plan<N, A<fk::Relu>, C3, B, A<fk::Relu>>, Plan<C, B, N, R, A<fk::Logistic>>,
                             Plan<C3, B, A<fk::Relu>>, Plan<C1, B, A<fk::HardSwish>>,
                             Plan<C, B, R, Statistics, A<fk::Relu>>, Plan<BG, B, R>, Plan<W3>>;

// Its epilogues compute in float, as those of half do.
template struct amd::Kernels<fk::bfloat16, Plan<C, B, N, R, A<fk::HardSigmoid>>, Plan<W3>>;

// Some targets multiply floats on matrix units.
using Tf32C3 = fk::Conv<fk::filter(3, 3).pad(1), fk::Products<fk::tf32>>;
template struct amd::Kernels<float, Plan<N, A<fk::Relu>, C3, B, A<fk::Relu>>, Plan<C1, B, R, A<fk::HardSwish>>,
                             Plan<Tf32C3, B, A<fk::Relu>>, Plan<W3, S, R>>;
