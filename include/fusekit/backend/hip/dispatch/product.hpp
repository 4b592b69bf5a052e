// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/conv_phases.hpp"
#include "fusekit/backend/hip/slabs.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::hip::detail {

/// Sizes of the GEMMs of a Conv or Gemm: `groups` GEMMs of m pixels x n channels, one for each group of channels, or
/// for each matrix of a batch.
struct GroupedProduct {
    std::int64_t m, n, groups;
};

/// Returns the sizes of the GEMMs of a head whose output, before a Pool, has shape y.
template <class Plan, class Geometry>
FUSEKIT_H constexpr GroupedProduct product_of([[maybe_unused]] Geometry const& filter, Index<4> const& y) {
    if constexpr (problem::GroupsOf<typename Plan::Head>::of_channels) {
        std::int64_t const groups = filter.group_count;
        return {y[0] * y[2] * y[3], y[1] / groups, groups};
    } else {
        return {y[3], y[1], y[0] * y[2]};
    }
}

/// Number of tiles of tile_m pixels that cover `m` pixels. Each phase of a TransposedConv (conv_phases.hpp) has its own
/// tiles.
template <class Plan>
FUSEKIT_H constexpr std::int64_t count_tiles(std::int64_t m, Index<4> const& y,
                                             problem::Slices<Plan::Head::collapsed_space> const& slices, int tile_m) {
    if constexpr (has_phases<Plan>()) return ConvPhases<typename Plan::Head>::tiles(y, slices, tile_m);
    else return divide_up(m, tile_m);
}

/// Tiles of a head's output along its pixels, `tiles` in all, and the ranges of images to which they belong
/// (slabs.hpp). There are `columns` times as many CTAs, where `columns` is the number of tiles along the channels.
struct SlabTiles {
    std::int64_t tiles;
    Slabs slabs;
};
template <class Plan>
FUSEKIT_H constexpr SlabTiles cut_slabs(Index<4> y, problem::Slices<Plan::Head::collapsed_space> const& slices,
                                        int tile_m, std::int64_t columns, IndexLimits const& limits) {
    constexpr bool of_channels = problem::GroupsOf<typename Plan::Head>::of_channels;
    auto const count = [&](std::int64_t images) {
        y[0] = images;
        return count_tiles<Plan>(of_channels ? y[0] * y[2] * y[3] : y[3], y, slices, tile_m);
    };
    std::int64_t const images = y[0], of_slab = images_of_slab(images, y[2] * y[3], limits.pixels, tile_m);
    if (!of_channels || of_slab == images) return {count(images), {}};
    std::int64_t const tiles = count(of_slab), rest = images % of_slab;
    return {images / of_slab * tiles + (rest > 0 ? count(rest) : 0),
            {static_cast<unsigned>(tiles * columns), static_cast<unsigned>(tiles), static_cast<int>(of_slab)}};
}

/// True if each weight matrix of a batch starts at a multiple of `count` elements from the first one.
template <class Plan>
FUSEKIT_H constexpr bool batch_steps_whole(BoundPlan<Plan> const& bound, int count) {
    if constexpr (problem::GroupsOf<typename Plan::Head>::of_channels) {
        return true;
    } else {
        Layout<4> const& weights = bound.head.weights.layout;
        return problem::detail::steps_whole(weights, 0, count) && problem::detail::steps_whole(weights, 2, count);
    }
}

/// View of x with the pixels of one group: all of x or, if each matrix of a batch is a group, one matrix, as an image
/// of one row.
template <class Plan, Element T>
FUSEKIT_H constexpr TensorView<T const> pixels_of_group(TensorView<T const> x) {
    if constexpr (!problem::GroupsOf<typename Plan::Head>::of_channels) x.layout.shape[2] = 1;
    return x;
}

/// True if `count` consecutive pixels of a group are contiguous in x and aligned to `count` elements.
template <class Plan, Element T>
FUSEKIT_H constexpr bool pixels_are_vectorizable(TensorView<T const> const& x, int count) {
    return problem::detail::steps_whole(x.layout, 2, problem::GroupsOf<typename Plan::Head>::of_channels ? 1 : count) &&
           problem::vectorizable_planes(pixels_of_group<Plan>(x), count);
}

}  // namespace fusekit::hip::detail
