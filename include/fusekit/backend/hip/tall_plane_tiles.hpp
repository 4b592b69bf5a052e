// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// Kernel argument: the tiles of TallPlanes, 64 consecutive pixels x 64 filters for each warpgroup. Pixels of y are
/// numbered over all images. Index k of GemmK is tap k % (R S) of channel k / (R S) of x.
struct TallPlaneTiles {
    /// pixels and filters of a warpgroup's tile; indices of GemmK of a tile of filters in SMEM, number of these tiles,
    /// and indices of a step; warpgroups of a CTA; the largest GemmK, and filter, of several taps
    static constexpr int pixels = 64, filters = 64, block = 64, blocks = 4, step = 32, warpgroups = 2, max_k = 1024,
                         max_taps = 32;

    FastDivmod plane = {}, row = {};  ///< divisors: pixels of a plane and of a row of y
    FastDivmod columns = {}, of_group = {};  ///< divisors: tiles of filters, of all groups and of a group of channels
    std::uint32_t all_pixels = 0;
    std::uint32_t rounds = 0;  ///< tiles of a warpgroup
    int k = 0, taps = 1, group_filters = 0;  ///< GemmK; taps and filters of a group
    int group_channels = 0;  ///< channels of x of a group
    int window_columns = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1, pad_top = 0, pad_left = 0;
    bool windows = false;  ///< true unless the filter is 1x1 with stride 1 and without padding
    /// true if pixels 2 i and 2 i + 1 are in one image, at a multiple of 8 bytes of y, and of x unless `windows`
    bool pairs = false;
    bool vectors = false;  ///< true if the weights of each filter are contiguous vectors of four, aligned to their size

    /// Offset of pixel `pixel` in a channel of image 0 of a tensor whose images are `image_stride` elements apart.
    FUSEKIT_HD constexpr std::int64_t offset_of(std::int64_t image_stride, unsigned pixel) const {
        unsigned const n = plane.divide(pixel);
        return n * image_stride + (pixel - n * plane.value());
    }
};

}  // namespace fusekit::hip
