// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/resample.hpp"
#include "fusekit/runtime/operator.hpp"

/// OperatorOf for upsampling and pixel shuffles, which have no arguments.
namespace fusekit::runtime {

template <int rows, int columns>
struct OperatorOf<UpsampleNearest<rows, columns>> {
    static constexpr Descriptor descriptor = upsample_nearest(rows, columns);
    FUSEKIT_H static typename UpsampleNearest<rows, columns>::Args read(Given const&) { return {}; }
};
template <int rows, int columns>
struct OperatorOf<UpsampleBilinear<rows, columns>> {
    static constexpr Descriptor descriptor = upsample_bilinear(rows, columns);
    FUSEKIT_H static typename UpsampleBilinear<rows, columns>::Args read(Given const&) { return {}; }
};
template <int factor>
struct OperatorOf<PixelShuffle<factor>> {
    static constexpr Descriptor descriptor = pixel_shuffle(factor);
    FUSEKIT_H static typename PixelShuffle<factor>::Args read(Given const&) { return {}; }
};
template <int factor>
struct OperatorOf<PixelUnshuffle<factor>> {
    static constexpr Descriptor descriptor = pixel_unshuffle(factor);
    FUSEKIT_H static typename PixelUnshuffle<factor>::Args read(Given const&) { return {}; }
};

}  // namespace fusekit::runtime
