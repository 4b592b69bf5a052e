// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/tensor/filter.hpp>

#include "zoo/layer.hpp"

namespace bench::zoo {

inline fusekit::Filter<2> filter_of(Layer const& l) {
    return fusekit::filter(l.r, l.s).pad(l.pad_h, l.pad_w).stride(l.stride).dilation(l.dilation).groups(l.groups);
}

}  // namespace bench::zoo
