// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <numeric>

#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// Exclusive limits of 32-bit counts: pixels of a convolution's range of images (Slabs), pixels that one CTA of a
/// weight gradient reduces, outputs of a pool's range of images, steps of a reduction's range of images. Tests set
/// lower limits.
struct IndexLimits {
    std::int64_t pixels = std::int64_t{1} << 30, block_pixels = std::int64_t{1} << 30, outputs = std::int64_t{1} << 31,
                 steps = std::int64_t{1} << 31;
};

/// Ranges of whole images (slabs), of equal length except the last, into which a batch is divided if its pixels or
/// outputs exceed 32-bit counts. CTAs are numbered slab after slab, so that one launch computes all slabs.
struct Slabs {
    unsigned blocks = 0xffffffff;  ///< CTAs of each range of images but the last
    unsigned tiles = 0;  ///< tiles along the pixels of each range of images but the last
    int images = 0x7fffffff;

    /// First image, first CTA and first tile (each an index in the whole batch) of the slab to which CTA `block`
    /// belongs.
    struct Start {
        int image = 0;
        unsigned block = 0, tile = 0;
    };
    FUSEKIT_HD constexpr Start of(unsigned block) const {
        Start start;
        for (unsigned end = blocks; block >= end; end += blocks)
            start.image += images, start.block += blocks, start.tile += tiles;
        return start;
    }
};

/// Number of images per slab, for images of `size` pixels, such that a slab has fewer than `most` pixels. If there are
/// enough images, a slab has a multiple of tile_m pixels, so that its tiles are those of the undivided batch.
FUSEKIT_H inline std::int64_t images_of_slab(std::int64_t images, std::int64_t size, std::int64_t most,
                                             int tile_m = 1) {
    std::int64_t const fit = (most - 1) / size, count = fit < 1 ? 1 : fit,
                       whole = tile_m / std::gcd(size, std::int64_t{tile_m});
    if (count >= images) return images;
    return count < whole ? count : count - count % whole;
}

}  // namespace fusekit::hip
