// mistakes: 7
// expect: field::weights
// expect: field::variance
// expect: field::z
// expect: field::values
// expect: field::amax
// expect: field::dy
// expect: GivenFilter
// expect g++: the argument Field is left out, or out of order: give all, in the order of Op::Args
// expect clang: the argument Field is left out, or out of order: give all, in the order of Op::Args
// expect g++: the argument filter is left out: give .filter = fk::filter(r, s) after .weights
// expect clang: the argument filter is left out: give .filter = fk::filter(r, s) after .weights
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

extern fk::Tensor<float, fk::host::Device> w, t;
extern fk::Tensor<float, fk::host::Device, 1> b;

#ifdef CORRECTED
auto const weights = fk::Plan<fk::Conv<fk::filter(3, 3)>>::bind({.weights = w});
auto const variance =
    fk::Plan<fk::BatchNormInference<fk::Spatial>>::bind({.mean = b, .variance = b, .scale = b, .shift = b});
auto const z = fk::Plan<fk::Residual>::bind({.z = t, .alpha2 = 2});
auto const values = fk::Plan<fk::Store>::bind({.values = t});
auto const amax = fk::Plan<fk::Amax>::bind({.amax = b});
auto const dy = fk::Plan<fk::ConvWeightGradient<fk::filter(3, 3)>>::bind({.dy = t});
auto const filter = fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = fk::filter(3, 3)});
#else
auto const weights = fk::Plan<fk::Conv<fk::filter(3, 3)>>::bind({});
auto const variance = fk::Plan<fk::BatchNormInference<fk::Spatial>>::bind({.mean = b, .scale = b, .shift = b});
auto const z = fk::Plan<fk::Residual>::bind({.alpha2 = 2});
auto const values = fk::Plan<fk::Store>::bind({});
auto const amax = fk::Plan<fk::Amax>::bind({});
auto const dy = fk::Plan<fk::ConvWeightGradient<fk::filter(3, 3)>>::bind({});
auto const filter = fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w});
#endif
