// expect: the number of modes of this argument (Source) is not one that its field takes (Ranks)
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

fk::host::Device device;
auto const shared = fk::random<float>(device, fk::row_major(6, 4));
auto const one_each = fk::random<float>(device, fk::row_major(3, 6, 4));

#ifdef CORRECTED
auto const layer = fk::Plan<fk::Gemm>::bind({.weights = shared});
#else
auto const layer = fk::Plan<fk::Gemm>::bind({.weights = one_each});
#endif
