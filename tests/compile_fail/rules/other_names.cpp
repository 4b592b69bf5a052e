// mistakes: 7
// expect: is unavailable: write fk::ClippedRelu, whose alpha is 6 unless given
// expect: is unavailable: write fk::Silu
// expect: is unavailable: write fk::Logistic
// expect: is unavailable: write fk::Gemm, fk::Bias
// expect: write fk::Conv<fk::filter(r, s).pad(p).stride(u)>
// expect: write fk::Pool<fk::Max, fk::filter(r, s).pad(p).stride(u)>
// expect: write fk::BatchNormInference<fk::Spatial> or fk::BatchNormTraining<fk::Spatial>
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
using Six = fk::Plan<fk::Activation<fk::ClippedRelu>>;
using Sigmoids = fk::Plan<fk::Activation<fk::Silu>>;
using Logistics = fk::Plan<fk::Activation<fk::Logistic>>;
using Matrices = fk::Plan<fk::Gemm, fk::Bias>;
using Convolution = fk::Plan<fk::Conv<fk::filter(3, 3)>, fk::Bias>;
using Pool = fk::Plan<fk::Pool<fk::Max, fk::filter(2, 2)>>;
using Norm = fk::Plan<fk::BatchNormInference<fk::Spatial>>;
#else
using Six = fk::Plan<fk::Activation<fk::Relu6>>;
using Sigmoids = fk::Plan<fk::Activation<fk::SiLU>>;
using Logistics = fk::Plan<fk::Activation<fk::Sigmoid>>;
using Matrices = fk::Plan<fk::Linear>;
using Convolution = fk::Plan<fk::Conv2d<fk::filter(3, 3)>, fk::Bias>;
using Pool = fk::Plan<fk::MaxPool2d<2, 2>>;
using Norm = fk::Plan<fk::BatchNorm<fk::Spatial>>;
#endif
