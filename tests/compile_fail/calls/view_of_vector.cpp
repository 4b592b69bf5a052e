// expect: the first argument (Data) must be a pointer to the view's elements (T): for a vector write data()
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

#include <vector>

namespace fk = fusekit;

void run(std::vector<float> const& x) {
#ifdef CORRECTED
    fk::TensorView const view(x.data(), fk::nchw(1, 2, 3, 4));
#else
    fk::TensorView const view(x, fk::nchw(1, 2, 3, 4));
#endif
    static_cast<void>(view);
}
