// expect: the second argument (Given) must be a layout of the view's number of modes (Rank, 4 by default)
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
