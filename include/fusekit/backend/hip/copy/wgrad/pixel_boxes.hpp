// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"
#include "fusekit/backend/hip/schedule/bulk_weights.hpp"

namespace fusekit::hip {

/// SMEM stage with the operands of a k-tile, whose indices are pixels of dy: elements of dy, and elements of the
/// pixels' windows in x, in boxes of 64 channels.
template <class Schedule, class T>
struct WeightStage {
    alignas(1024) T dy[Schedule::rows / weight_block][Schedule::pixels * weight_block];
    alignas(1024) T x[Schedule::columns / weight_block][Schedule::pixels * weight_block];
};

/// A CTA's tile of dw, the weight gradient, and its range [begin, end) of pixels of dy (split-K), in the order of the
/// k-tiles. Rows of the tile are channels of y; columns are blocks of one tap x 64 channels of x, in convolutions with
/// groups those that the tile's groups read. Consecutive CTAs have the same pixels, and their tiles share the larger
/// operand, which they then read from L2. Square tiles of filters of one tap are ordered along the shorter side of dw:
/// then consecutive CTAs read fewer boxes.
template <class Schedule>
struct WeightTile {
    static constexpr int column_blocks = Schedule::columns / weight_block;

    unsigned rank, number, split_group, tiles;
    /// x_block, dy_block: channels of a block of 64 columns or rows. x_phase, dy_phase: elements from the first pixel
    /// of a row of the tensor maps to the CTA's pixel.
    int first_k, end_k, first_c, first_block, channel_blocks, blocks, begin, end, x_block, dy_block, x_phase, dy_phase;
    bool has_ones;

    template <class Params, class Problem>
    __device__ WeightTile(Params const& params, Problem const& conv, unsigned of) {
        x_block = dy_block = weight_block, x_phase = dy_phase = 0;
        unsigned phases = 1;
        if constexpr (Params::has_phases) {
            x_block = params.maps.x_block, dy_block = params.maps.dy_block;
            phases = params.maps.phases;
        }
        channel_blocks = static_cast<int>(detail::divide_up(conv.group_c(), x_block));
        blocks = static_cast<int>(conv.taps()) * channel_blocks;
        int const k = conv.group_k() * conv.groups();
        int rows = Schedule::rows / weight_block * dy_block;
        if (conv.groups() > 1) rows = grouped_rows(rows, conv.group_k());
        has_ones = params.bound.head.bias_gradient.given();
        auto const across = static_cast<unsigned>(detail::divide_up(blocks + has_ones, column_blocks)),
                   down = static_cast<unsigned>(detail::divide_up(k, rows));
        rank = of % params.split_k.cluster;
        tiles = across * down;
        unsigned const group_of_slots = params.split_k.held_tiles * params.split_k.groups,
                       in_order = of / params.split_k.cluster;
        if (params.split_k.held_tiles > 0) {  // all groups of the first tiles, then of the next
            unsigned const first = in_order / group_of_slots * params.split_k.held_tiles, rest = tiles - first,
                           count = rest < params.split_k.held_tiles ? rest : params.split_k.held_tiles,
                           within = in_order % group_of_slots;
            number = first + within % count, split_group = within / count;
        } else {
            number = in_order % tiles, split_group = in_order / tiles;
        }
        bool const shares_x = Schedule::columns > Schedule::rows ||
                              (Schedule::columns == Schedule::rows && !params.maps.has_windows && down < across);
        unsigned const side = shares_x ? down : across, first = number % side, second = number / side;
        first_block = static_cast<int>(shares_x ? second : first) * column_blocks;
        first_k = static_cast<int>(shares_x ? first : second) * rows;
        end_k = (min)(k, first_k + rows);
        first_c = 0;
        if (conv.groups() > 1)
            first_c = conv.group_c() < weight_block ? first_k : first_k / conv.group_c() * conv.group_c();
        unsigned const split = split_group * params.split_k.cluster + rank;
        if constexpr (Params::has_phases) {
            x_phase = static_cast<int>(split % phases) * params.maps.x_step;
            dy_phase = static_cast<int>(split % phases) * params.maps.dy_step;
        }
        begin = static_cast<int>(split / phases) * params.split_pixels;
        end = (min)(begin + params.split_pixels, params.maps.pixels);
    }
    __device__ int steps() const {
        return begin < end ? static_cast<int>(detail::divide_up(end - begin, Schedule::pixels)) : 0;
    }
    /// True if y has channels in the tile's 64-row block number `of`.
    __device__ bool has_rows(unsigned of) const { return first_k + static_cast<int>(of) * dy_block < end_k; }
    /// Number of elements, 0 to 7, by which the TMA boxes of the tile's row block or column block number `of` begin
    /// before its first channel; 0 for a column of ones.
    __device__ int row_shift(int of) const { return (first_k + of * dy_block + dy_phase) % 8; }
    __device__ int column_shift(int of) const {
        int const block = first_block + of;
        return block < blocks ? (block * x_block + x_phase) % 8 : 0;
    }
};

/// Coordinate of a k-tile's first pixel of dy; advance() moves it to the next k-tile without divisions.
struct StepPixel {
    int p, q, image, step_p, step_q, step_n, rows_of_y, columns_of_y;

    template <class Problem>
    __device__ StepPixel(Problem const& conv, int first, int pixels)
        : rows_of_y(static_cast<int>(conv.y[2])), columns_of_y(static_cast<int>(conv.y[3])) {
        Pixel const at = conv.pixel(first), step = conv.pixel(pixels);
        p = at.p, q = at.q, image = at.n;
        step_p = step.p, step_q = step.q, step_n = step.n;
    }
    __device__ void advance() {
        q += step_q, p += step_p, image += step_n;
        if (q >= columns_of_y) q -= columns_of_y, ++p;
        if (p >= rows_of_y) p -= rows_of_y, ++image;
    }
};

/// Issues the TMA loads of all k-tiles of a CTA into the pipeline's stages. Called by one thread.
template <class Schedule, class Params, class Problem, class T, class Pipeline>
__device__ void load_weight_operands(Params const& params, Problem const& conv, WeightTile<Schedule> const& tile,
                                     WeightStage<Schedule, T>* stages, Pipeline& pipeline) {
    constexpr int pixels = Schedule::pixels, column_blocks = WeightTile<Schedule>::column_blocks;
    constexpr unsigned row_blocks = Schedule::rows / weight_block;
    auto const& filter = conv.filter;
    int const copied = (max)((min)(tile.blocks - tile.first_block, column_blocks), 0);
    unsigned boxes = static_cast<unsigned>(copied);
    for (unsigned i = 0; i < row_blocks; ++i) boxes += tile.has_rows(i);
    int c[column_blocks];
    unsigned down[column_blocks], right[column_blocks];
#pragma unroll
    for (int i = 0; i < column_blocks; ++i) {
        int const tap = (tile.first_block + i) / tile.channel_blocks, r = tap / filter.size[1];
        c[i] = tile.first_c + (tile.first_block + i) % tile.channel_blocks * tile.x_block;
        if constexpr (Params::has_phases) c[i] += tile.x_phase - tile.column_shift(i);
        down[i] = static_cast<unsigned>(r * filter.dilations[0]);
        right[i] = static_cast<unsigned>((tap - r * filter.size[1]) * filter.dilations[1]);
    }
    int k[row_blocks];
#pragma unroll
    for (int i = 0; i < static_cast<int>(row_blocks); ++i) {
        k[i] = tile.first_k + i * tile.dy_block;
        if constexpr (Params::has_phases) k[i] += tile.dy_phase - tile.row_shift(i);
    }
    typename Pipeline::State state;
    StepPixel at(conv, tile.begin, pixels);
#pragma unroll 1
    for (int m = tile.begin; m < tile.end; m += pixels, state.advance(), at.advance()) {
        auto& stage = stages[state.stage];
        auto const full = pipeline.producer_acquire(state, boxes * static_cast<unsigned>(sizeof stage.x[0]));
#pragma unroll
        for (unsigned i = 0; i < row_blocks; ++i)
            if (tile.has_rows(i)) ptx::tma_load(ptx::shared_address(stage.dy[i]), &params.maps.dy, full, {k[i], m});
        int const h = at.p * filter.strides[0] - filter.pad_before[0],
                  w = at.q * filter.strides[1] - filter.pad_before[1];
#pragma unroll
        for (int i = 0; i < column_blocks; ++i) {
            if (i >= copied) continue;
            auto const to = ptx::shared_address(stage.x[i]);
            if (params.maps.has_windows)
                ptx::tma_load_im2col(to, &params.maps.x, full, {c[i], w, h, at.image}, right[i], down[i]);
            else ptx::tma_load(to, &params.maps.x, full, {c[i], m});
        }
    }
}

}  // namespace fusekit::hip
