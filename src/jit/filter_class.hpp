// SPDX-License-Identifier: MIT
#pragma once

#include <iterator>

#include "fusekit/tensor/filter.hpp"

namespace fusekit::jit {

/// Classes of filters of a ConvWeightGradient. A class has one host plan, over its representative: its filters have the
/// same kernels, parameters of one layout, and choices that depend on their values at run time. Classes from
/// first_grouped on are of filters with groups: each of them but the last has the representative's size, strides and
/// dilations, which depthwise kernels have as constants. Filters of the last class run on kernels for any filter.
inline constexpr Filter<2> filter_representatives[] = {filter(1, 1),
                                                       filter(1, 1).stride(2),  // one tap, with a stride or padding
                                                       filter(3, 3),
                                                       filter(2, 2).stride(2),  // patches
                                                       filter(1, 1).groups(2),
                                                       filter(3, 3).groups(2),
                                                       filter(3, 3).stride(2).groups(2),
                                                       filter(5, 5).groups(2),
                                                       filter(5, 5).stride(2).groups(2),
                                                       filter(7, 7).groups(2),
                                                       filter(7, 7).stride(2).groups(2),
                                                       filter(9, 9).groups(2)};
inline constexpr int filter_classes = static_cast<int>(std::size(filter_representatives)), patches = 3,
                     first_grouped = 4, other_filters = filter_classes - 1;

/// Class of a filter.
int filter_class(Filter<2> const& of);

}  // namespace fusekit::jit
