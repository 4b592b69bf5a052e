// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <numeric>

#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// Exclusive limits of 32-bit counts: pixels of a convolution's slab and of a weight gradient's block, outputs of a
/// pooling slab, steps of a reduction's slab. Tests lower them.
struct IndexLimits {
    std::int64_t pixels = std::int64_t{1} << 30, block_pixels = std::int64_t{1} << 30, outputs = std::int64_t{1} << 31,
                 steps = std::int64_t{1} << 31;
};

/// Slabs of a batch whose pixels or outputs exceed 32-bit counts. A slab has whole images, all slabs but the last
/// equally many. CTAs are numbered slab by slab, so that one launch computes all.
struct Slabs {
    unsigned blocks = 0xffffffff;  ///< of each slab but the last
    unsigned tiles = 0;  ///< of these CTAs, along pixels
    int images = 0x7fffffff;

    /// First image, CTA and tile of a CTA's slab.
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

/// Images per slab, of `size` pixels each: fewer than `most` pixels. If images allow it, a slab has whole tiles of
/// tile_m pixels, so that its tiles equal those of the whole batch.
FUSEKIT_H inline std::int64_t images_of_slab(std::int64_t images, std::int64_t size, std::int64_t most,
                                             int tile_m = 1) {
    std::int64_t const fit = (most - 1) / size, count = fit < 1 ? 1 : fit,
                       whole = tile_m / std::gcd(size, std::int64_t{tile_m});
    if (count >= images) return images;
    return count < whole ? count : count - count % whole;
}

}  // namespace fusekit::hip
