// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <numeric>

#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// Exclusive limits of 32-bit counts: pixels of a slab of a convolution, and of a block of a gradient by the weights;
/// outputs of a slab of a pool; steps of a slab of a reduction. Tests lower them.
struct IndexLimits {
    std::int64_t pixels = std::int64_t{1} << 30, block_pixels = std::int64_t{1} << 30, outputs = std::int64_t{1} << 31,
                 steps = std::int64_t{1} << 31;
};

/// The slabs of a batch that has more pixels or outputs than kernels count in 32 bits: whole images, as many in each
/// slab but the last. Blocks count the slabs one after another, so that one launch computes all.
struct Slabs {
    unsigned blocks = 0xffffffff;  ///< of each but the last
    unsigned tiles = 0;  ///< of these blocks, along pixels
    int images = 0x7fffffff;

    /// Where a block's slab begins.
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

/// Images per slab of a batch, of `size` pixels each: fewer than `most` pixels, and, where images allow it, so many
/// that its tiles of tile_m pixels are whole, as those of the whole batch are.
FUSEKIT_H inline std::int64_t images_of_slab(std::int64_t images, std::int64_t size, std::int64_t most,
                                             int tile_m = 1) {
    std::int64_t const fit = (most - 1) / size, count = fit < 1 ? 1 : fit,
                       whole = tile_m / std::gcd(size, std::int64_t{tile_m});
    if (count >= images) return images;
    return count < whole ? count : count - count % whole;
}

}  // namespace fusekit::hip
