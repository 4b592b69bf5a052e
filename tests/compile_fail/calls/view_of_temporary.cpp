// expect: this tensor is freed before its view is used: give it a name
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

fk::host::Device device;
#ifdef CORRECTED
auto x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
auto const view = x.view();
#else
auto const view = fk::random<float>(device, fk::nchw(1, 4, 8, 8)).view();
#endif
auto const y = fk::Plan<fk::Activation<fk::Relu>>::bind({})(device, view);
