// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/backend/hip/arch/permute.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/copy/wgrad/row_offsets.hpp"
#include "fusekit/backend/hip/copy/wgrad/tile.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::hip {

/// A lane's loads of a k-tile of a weight gradient: one quad (four consecutive pixels of a row of y) of `columns`
/// channels of x at one tap, and of `channels` channels of dy. Offsets are read from LDS one k-tile ahead. The column
/// of dw after the last weight, which gives the bias gradient, uses ones in place of x.
template <Element T, int Stride>
class RowLoads {
    using Offsets = RowOffsets<T, Stride>;
    using Loaded = Words<Offsets::loaded / 2>;
    static constexpr auto bytes = static_cast<std::uint32_t>(sizeof(T));

public:
    static constexpr int columns = 8, channels = 4;

    /// The lane loads `columns` columns of the tile from column `columns` * column_block on, `channels` channels from
    /// channel `channels` * channel_block on, and of each k-tile the four pixels from pixel 4 * `quad` on.
    template <class Params, class Tile>
    __device__ RowLoads(Params const& params, Offsets const& offsets, TapRange const& taps, int quads,
                        WeightGradientTileAt<Tile> const& at, unsigned column_block, unsigned channel_block,
                        unsigned quad) {
        auto const conv = params.problem();
        auto const of_y = detail::typed<T>(params.bound.head.dy);
        Index<4> const &of_x = conv.x.layout.stride, &of_dy = of_y.layout.stride;
        in_x = Buffer(conv.x.data + conv.first_c(at.group) * of_x[1]);
        in_dy = Buffer(of_y.data + (conv.first_k(at.group) + at.first_k) * of_dy[1]);
        // Channels past the channel group's last one load the tile's first channel; their results are not stored.
        int const in_tile = static_cast<int>(column_block) * columns, column = at.first_column + in_tile,
                  channel = static_cast<int>(channel_block) * channels;
        bool const is_weight = column < params.weights();
        int const tap = is_weight ? column / conv.group_c() : taps.first + taps.count;
        x_at = is_weight ? offset((column - tap * conv.group_c()) * of_x[1]) : 0;
        dy_at = channel < conv.group_k() - at.first_k ? offset(channel * of_dy[1]) : 0;
        first_column = is_weight || in_tile != at.ones(params) ? ~0u : word_of_ones<T>();
        line = offsets.line(tap - taps.first, quads) + quad;
#pragma unroll
        for (int i = 0; i < columns; ++i) x_soffset[i] = opaque_per_block(offset(i * of_x[1]));
#pragma unroll
        for (int i = 0; i < channels; ++i) dy_soffset[i] = opaque_per_block(offset(i * of_dy[1]));
    }
    /// Reads from the LDS table the offsets of the lane's quad in the k-tile that begins `entries` quads after the
    /// table's first one.
    __device__ void find(int entries) {
        Words<4> const words = read_words(line + entries);
        __builtin_memcpy(&next, &words, sizeof next);
    }
    /// Loads the quad whose offsets the last find() read, for all columns and channels of the lane.
    __device__ void load() {
        std::uint32_t const from = begin();
#pragma unroll
        for (int i = 0; i < columns; ++i) {
            x[i] = in_x.template load<Loaded>(from, x_soffset[i]);
            keep_apart();
        }
        load_dy();
        // keeps the register: if the last load overwrote it, an instruction would separate the loads
        opaque_per_thread(from);
    }
    /// Like load(), but loads x one pixel at a time: for a quad whose vector load would read out of bounds of x.
    __device__ void load_edge() {
        std::uint32_t const from = begin();
        std::uint32_t pixels[4];
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) {
            bool const in_bounds = ((j < 2 ? low : high) >> j % 2 * 16 & 0xff) < no_byte;
            pixels[j] = in_bounds ? from + j * Stride * bytes : Buffer::out_of_bounds;
        }
#pragma unroll
        for (int i = 0; i < columns; ++i) {
            std::uint32_t own[4];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                own[j] = in_x.template load<std::uint16_t>(pixels[j], x_soffset[i]);
                keep_apart();
            }
            if constexpr (Stride == 1) x[i] = {own[0] | own[1] << 16, own[2] | own[3] << 16};
            else x[i] = {own[0], own[1], own[2], own[3]};
        }
        load_dy();
    }
    __device__ void wait() { wait_for(dy[channels - 1]); }
    /// Returns the quad's four pixels of the lane's column i of dw, two per word.
    __device__ Words<2> of_column(int i) const {
        constexpr int second = Offsets::loaded / 2 - 2;
        Words<2> words = {permuted(x[i][1], x[i][0], low), permuted(x[i][second + 1], x[i][second], high)};
        if (i == 0) words[0] &= first_column, words[1] &= first_column;
        return words;
    }
    /// Returns the quad's four pixels of the lane's channel i of dy, two per word.
    __device__ Words<2> of_channel(int i) const { return dy[i]; }

private:
    Buffer in_x, in_dy;
    std::uint32_t x_at, dy_at, first_column, x_soffset[columns], dy_soffset[channels];
    QuadOfRow const* line;
    QuadOfRow next;
    std::uint32_t low, high;
    Loaded x[columns];
    Words<2> dy[channels];

    __device__ static std::uint32_t offset(std::int64_t elements) {
        return static_cast<std::uint32_t>(elements) * bytes;
    }
    __device__ std::uint32_t begin() {
        low = next.low, high = next.high;
        return next.x + x_at;
    }
    __device__ void load_dy() {
        std::uint32_t const from = next.dy + dy_at;
#pragma unroll
        for (int i = 0; i < channels; ++i) {
            dy[i] = in_dy.template load<Words<2>>(from, dy_soffset[i]);
            keep_apart();
        }
    }
};

}  // namespace fusekit::hip
