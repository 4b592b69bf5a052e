// expect: Conv<fk::dynamic> is of images: its filter is a fk::filter(r, s)
// expect: the number of modes of this argument (Source) is not one that its field takes (Ranks)
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

extern fk::Tensor<float, fk::host::Device> weights;
extern fk::Tensor<float, fk::host::Device, 3> of_signals;

using OfImages = fk::Plan<fk::Conv<fk::dynamic>>;
using OfSignals = fk::Plan<fk::Conv<fk::filter(3)>>;
#ifdef CORRECTED
auto const of_images = OfImages::bind({.weights = weights, .filter = fk::filter(3, 3)});
auto const layer = OfSignals::bind({.weights = of_signals});
#else
auto const of_images = OfImages::bind({.weights = weights, .filter = fk::filter(3)});
auto const layer = OfSignals::bind({.weights = weights});
#endif
