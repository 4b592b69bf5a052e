// SPDX-License-Identifier: MIT
#pragma once

#include <iterator>

#include "fusekit/tensor/filter.hpp"

namespace fusekit::jit {

/// Classes of filters of a TransposedConv. A class has one host plan, over its representative: its filters have the
/// same kernels, parameters of one layout, and choices that depend on their values at run time.
inline constexpr Filter<2> transposed_representatives[] = {
    // stride 1, one group: one tap, up to 15 taps in a mode
    filter(1, 1), filter(3, 3),
    // stride 1, groups: depthwise kernels have sizes as constants
    filter(3, 3).groups(2), filter(5, 5).groups(2), filter(7, 7).groups(2),
    // stride 1, other filters
    filter(64, 64).groups(2),
    // strides, one group, without dilation: 2, 4 and 16 phases, which are kernels
    filter(3, 3).stride(1, 2), filter(3, 3).stride(2), filter(4, 4).stride(4),
    // strides, groups: depthwise kernels have sizes, strides and the left padding as constants
    filter(3, 3).pad(1).stride(2).groups(2), filter(5, 5).pad(2).stride(2).groups(2),
    // other filters with strides: one product over x with zeros between its elements
    filter(64, 64).stride(5).dilation(2).groups(2)};
inline constexpr int transposed_classes = static_cast<int>(std::size(transposed_representatives));

/// Numbers of classes: the first with groups, of other filters of stride 1; the first with strides, with strides and
/// groups, of other filters with strides.
inline constexpr int transposed_grouped = 2, transposed_other_unstrided = 5, transposed_strided = 6,
                     transposed_strided_grouped = 9, transposed_other = transposed_classes - 1;

/// True for classes whose filters the kernel reads at run time (device/known_transposed.hpp).
constexpr bool has_other_filters(int number) {
    return number == transposed_other_unstrided || number == transposed_other;
}

/// Class of a filter.
int transposed_class(Filter<2> const& of);

}  // namespace fusekit::jit
