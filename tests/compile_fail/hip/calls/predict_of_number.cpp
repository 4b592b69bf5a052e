// expect: predict() takes a hip::Device or a hip::Architecture: no other backend predicts
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(1, 1)>>;

void ask(fk::BoundPlan<Layer> const& layer, fk::Layout<4> const& x, fk::Layout<4> const& y) {
#ifdef CORRECTED
    (void)layer.predict<float>(fk::hip::Architecture::sm(90), x, y);
#else
    (void)layer.predict<float>(90, x, y);
#endif
}
