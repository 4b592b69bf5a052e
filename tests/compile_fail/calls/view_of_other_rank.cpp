// expect: no layout (Given) of as many modes as the view (Rank, which is 4 unless given)
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

void run(float const* bias) {
#ifdef CORRECTED
    fk::TensorView<float const, 1> const view(bias, fk::channels(4));
#else
    fk::TensorView<float const> const view(bias, fk::channels(4));
#endif
    static_cast<void>(view);
}
