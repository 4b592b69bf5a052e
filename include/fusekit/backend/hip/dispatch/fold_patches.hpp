// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/mainloop/weight_gradient_params.hpp"
#include "fusekit/result.hpp"

namespace fusekit::hip::detail {

/// Folds a weight gradient of patches (may_fold_patches) to one that TMA can load: rows of windows become images, and
/// the columns of a window become channels,
///   x N x C x R P x W -> N P x S C x R x Q, dy N x K x P x Q -> N P x K x 1 x Q, dw K x C x R x S -> K x S C x R x 1.
/// Empty if layouts do not allow it: C channels of adjacent columns must be contiguous in x and in dw, and rows and
/// images must have one stride. Empty too if C is a multiple of 64, whose blocks are full without it.
template <class Plan, Element T, OutputElement U>
    requires(may_fold_patches<Plan, T>)
FUSEKIT_H Maybe<WeightGradientParams<Plan, T, U>> fold_patches(WeightGradientParams<Plan, T, U> params) {
    Filter<2> const filter = params.filter();
    Layout<4>&x = params.x.layout, &dy = params.bound.head.dy.layout, &dw = params.y.layout;
    std::int64_t const images = x.shape[0], channels = x.shape[1], r = filter.size[0], s = filter.size[1],
                       rows = dy.shape[2], columns = dy.shape[3], row = x.stride[2];
    bool const contiguous = (channels == 1 || (x.stride[1] == 1 && dw.stride[1] == 1)) &&
                            (s == 1 || (x.stride[3] == channels && dw.stride[3] == channels)),
               follow = images == 1 ||
                        (x.stride[0] == x.shape[2] * row && (rows == 1 || dy.stride[0] == rows * dy.stride[2]));
    if (channels % 64 == 0 || !contiguous || !follow || x.shape[2] != rows * r) return {};
    x = {{{images * rows, s * channels, r, columns}}, {{r * row, 1, row, s * x.stride[3]}}};
    dy.shape[0] *= rows, dy.shape[2] = 1;
    if (rows > 1) dy.stride[0] = dy.stride[2];
    dw.shape[1] *= s, dw.shape[3] = 1, dw.stride[1] = 1;
    params.maps.folds_patches = true;
    return params;
}

}  // namespace fusekit::hip::detail
