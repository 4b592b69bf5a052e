// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/sm80.hpp"
#include "fusekit/backend/hip/collective/split_k.hpp"
#include "fusekit/backend/hip/copy/grouped_halo.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_params.hpp"

namespace fusekit::hip {

/// Weight gradient of a grouped convolution by mma.sync, channels-last, for groups of 4, 8, 16 or 32 channels of x and
/// equally many of y. An MMA multiplies 16 filters (GemmM) by 8 channels of x (GemmN) over 16 pixels of dy (GemmK). A
/// CTA computes 32 filters and the 32 channels of x that they read; a warp computes 8 of these channels for all taps,
/// so that it loads a fragment of dy once for all taps. Accumulators whose filter and channel are of different groups
/// are not stored. Several CTAs divide the items (GroupedGradientTiles) of the same filters, copy them to SMEM one item
/// ahead, and add their accumulators (split-K). Tensor cores round sums toward zero, so that accumulators are promoted,
/// added to FP32 sums in registers, after 1024 pixels or more. If registers do not hold both, a CTA reduces at most
/// max_unpromoted_pixels pixels.
template <class Plan, Element T, detail::OutputElement U>
class GroupedWeightGradient {
    static constexpr auto filter =
        Plan::Head::collapsed;  // for constants only: a use in code would load it from memory
    using Tiles = GroupedGradientTiles;
    static constexpr int R = filter.size[0], S = filter.size[1], taps = R * S, tap_pairs = (taps + 1) / 2,
                         unit = Tiles::unit, stride_h = filter.strides[0], stride_w = filter.strides[1],
                         dilation_h = filter.dilations[0], dilation_w = filter.dilations[1], top = filter.pad_before[0],
                         left = filter.pad_before[1];
    static constexpr auto factor = std::is_same_v<T, half> ? sm80::Factor::half : sm80::Factor::bfloat16;
    /// Accumulators of a warp: for each tap, of 16 filters, or of 32 if groups have 32 channels; then those of the bias
    /// gradient, whose columns are equal.
    template <int m_blocks>
    using Sums = float[m_blocks][taps + 1][4];

public:
    static constexpr int threads = Tiles::threads, blocks = Tiles::blocks, max_taps_of_32 = 12;
    static constexpr int promoted_pixels = 1024, max_unpromoted_pixels = 4096;
    template <int m_blocks>
    static constexpr bool promotes = (taps + 1) * 4 * m_blocks <= 80;
    using Architecture = arch::Sm80;
    using Params = WeightGradientParams<Plan, T, U>;
    /// The CTA's accumulators in SMEM for split-K: rows [tap][filter], columns the channels of x of the filters'
    /// groups. The row block after the last tap is the bias gradient.
    template <int m_blocks>
    using Accumulators = AccumulatorTile<(taps + 1) * unit, 16 * m_blocks>;
    struct DynamicShared {
        alignas(16) unsigned char bytes[Tiles::max_shared_bytes];
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        if constexpr (taps <= max_taps_of_32) {
            if (params.grouped.group_channels.value() == 32) return run_blocks<2>(params, shared.bytes, thread, block);
        }
        run_blocks<1>(params, shared.bytes, thread, block);
    }

private:
    struct Item {
        int n, p, q, channel_block;

        __device__ Item(Tiles const& tiles, unsigned item, unsigned number) {
            unsigned const row = tiles.column_tiles.divide(item), image = tiles.row_tiles.divide(row);
            n = static_cast<int>(image) * tiles.dy.tile.images;
            p = static_cast<int>(row - image * tiles.row_tiles.value()) * tiles.dy.tile.halo_rows;
            q = static_cast<int>(item - row * tiles.column_tiles.value()) * tiles.dy.tile.halo_columns;
            channel_block = static_cast<int>(number) * (unit / 8);
        }
    };
    /// A pixel of dy in an item: offset of its window in the halo, and its (image, row, column), 10 bits each. Entries
    /// past the item's last pixel have a row that is out of bounds of every item.
    struct alignas(8) PixelEntry {
        int offset;
        unsigned at;
    };

    template <int m_blocks>
    __device__ static void run_blocks(Params const& params, unsigned char* bytes, unsigned thread, unsigned block) {
        Tiles const& tiles = params.grouped;
        SplitKGroups const& split_k = params.split_k;
        unsigned const rank = block % split_k.cluster, number = block / split_k.cluster % tiles.units,
                       group = block / split_k.cluster / tiles.units;
        Sums<m_blocks> sums = {};
        add_items(params, bytes, thread, number, group * split_k.cluster + rank, sums);
        __syncthreads();
        auto& acc = *reinterpret_cast<Accumulators<m_blocks>*>(bytes);
        int const warp = static_cast<int>(thread / 32), lane = static_cast<int>(thread % 32);
#pragma unroll
        for (int i = 0; i < m_blocks; ++i)
#pragma unroll
            for (int tap = 0; tap <= taps; ++tap)
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    int const m_block = m_blocks == 1 ? warp / 2 : i,
                              row = tap * unit + m_block * 16 + lane / 4 + e / 2 * 8,
                              column = (m_blocks == 1 ? warp % 2 : warp) * 8 + lane % 4 * 2 + e % 2;
                    acc.rows[row][column / 4].values[column % 4] = sums[i][tap][e];
                }
        RowRange const rows = reduce_split_k<threads>(acc, split_k, number, group, rank, thread);
        int const filters = static_cast<int>(params.y.layout.shape[0]);
        store_sums<threads>(
            acc, rows, 16 * m_blocks, thread, [](int column) { return column; },
            [&](float sum, int row, int column) {
                int const tap = row / unit, in_unit = row % unit, first = static_cast<int>(number) * unit,
                          k = first + in_unit, c = first + (m_blocks == 1 ? in_unit / 16 * 16 : 0) + column;
                if (tap == taps) {
                    if (column == 0 && k < filters && params.bound.head.bias_gradient.given())
                        params.store_bias(sum, k);
                    return;
                }
                FastDivmod const& channels = tiles.group_channels;
                unsigned const of_k = channels.divide(static_cast<unsigned>(k)),
                               of_c = channels.divide(static_cast<unsigned>(c));
                if (k >= filters || of_k != of_c) return;
                params.store(sum, {k, c - static_cast<int>(of_c * channels.value()), tap / S, tap % S});
            });
        finish_split_k(split_k);
    }

    /// Accumulates the CTA's items: every count()-th item, from item `split` on.
    template <int m_blocks>
    __device__ static void add_items(Params const& params, unsigned char* bytes, unsigned thread, unsigned number,
                                     unsigned split, Sums<m_blocks>& sums) {
        Tiles const& tiles = params.grouped;
        auto* const zeros = reinterpret_cast<std::uint32_t*>(bytes);
        auto* const pixels = reinterpret_cast<PixelEntry*>(bytes + 16);
        unsigned char* const stages = bytes + tiles.table_bytes();
        int const dy_pixels = tiles.dy.tile.images * tiles.dy.tile.halo_rows * tiles.dy.tile.halo_columns,
                  all_pixels = tiles.steps() * 16, stage_bytes = tiles.stage_bytes(), dy_bytes = tiles.dy_bytes();
        if (thread < 4) zeros[thread] = 0;
        for (int i = static_cast<int>(thread); i < all_pixels; i += threads) {
            unsigned const row = tiles.columns.divide(static_cast<unsigned>(i)), image = tiles.rows.divide(row),
                           q = static_cast<unsigned>(i) - row * tiles.columns.value(),
                           p = row - image * tiles.rows.value();
            bool const exists = i < dy_pixels;
            int const in_x = (static_cast<int>(image) * tiles.x.tile.halo_rows + static_cast<int>(p) * stride_h) *
                                 tiles.x.tile.halo_columns +
                             static_cast<int>(q) * stride_w;
            pixels[i] = {exists ? in_x * tiles.x.tile.pitch : 0, exists ? image << 20 | p << 10 | q : ~0u};
        }
        // zeroes the pixels of dy after an item's last one, which no copy writes
        int const words = (all_pixels - dy_pixels) * tiles.dy.tile.pitch / 4;
        for (int i = static_cast<int>(thread); i < Tiles::stages * words; i += threads) {
            int const stage = i / (words + (words == 0)), word = i - stage * words;
            reinterpret_cast<std::uint32_t*>(stages + stage * stage_bytes + dy_pixels * tiles.dy.tile.pitch)[word] = 0;
        }
        TensorView<T const> const dy = detail::typed<T>(params.bound.head.dy);
        constexpr Filter<2> window{{R, S}, {top, left}, {}, {stride_h, stride_w}, {dilation_h, dilation_w}, 1},
            single{{1, 1}, {}, {}, {1, 1}, {1, 1}, 1};
        auto const copy = [&](unsigned item, int stage) {
            if (item < tiles.items) {
                Item const at(tiles, item, number);
                unsigned char* const to = stages + stage * stage_bytes;
                GroupedLoad<T, threads>::copy_halo(tiles.dy, at, dy, single, to, thread);
                GroupedLoad<T, threads>::copy_halo(tiles.x, at, params.x, window, to + dy_bytes, thread);
            }
            commit_copies();
        };
        int const lane = static_cast<int>(thread % 32);
        int tap_offset[tap_pairs];  // for ldmatrix: lanes 0 to 15 pass addresses of the first tap of a pair, lanes 16
                                    // to 31 of the second
#pragma unroll
        for (int i = 0; i < tap_pairs; ++i) {
            int const first = 2 * i, second = (min)(2 * i + 1, taps - 1);
            tap_offset[i] =
                (lane < 16 ? first / S * dilation_h * tiles.x.tile.halo_columns + first % S * dilation_w
                           : second / S * dilation_h * tiles.x.tile.halo_columns + second % S * dilation_w) *
                tiles.x.tile.pitch;
        }
        unsigned const step = params.split_k.count();
        bool const has_bias = params.bound.head.bias_gradient.given();
        Sums<m_blocks> unpromoted = {};
        copy(split, 0);
        int stage = 0, pixels_in_sums = 0;
#pragma unroll 1
        for (unsigned item = split; item < tiles.items; item += step) {
            copy(item + step, stage ^ 1);
            wait_for_groups<1>();
            __syncthreads();
            Item const at(tiles, item, number);
            Index<4> const& shape = dy.layout.shape;
            auto const remaining = [](std::int64_t all, int first, int most) {
                return static_cast<unsigned>((min)(static_cast<int>(all) - first, most));
            };
            multiply<m_blocks>(tiles, stages + stage * stage_bytes, pixels, zeros, tap_offset, thread,
                               remaining(shape[0], at.n, tiles.dy.tile.images),
                               remaining(shape[2], at.p, tiles.dy.tile.halo_rows),
                               remaining(shape[3], at.q, tiles.dy.tile.halo_columns), has_bias,
                               promotes<m_blocks> ? unpromoted : sums);
            if constexpr (promotes<m_blocks>) {
                if ((pixels_in_sums += all_pixels) >= promoted_pixels || item + step >= tiles.items) {
                    promote<m_blocks>(sums, unpromoted);
                    pixels_in_sums = 0;
                }
            }
            stage ^= 1;
            __syncthreads();
        }
        wait_for_copies();
    }

    /// sums += unpromoted in FP32, rounded to nearest; then clears `unpromoted`.
    template <int m_blocks>
    __device__ static void promote(Sums<m_blocks>& sums, Sums<m_blocks>& unpromoted) {
#pragma unroll
        for (int i = 0; i < m_blocks; ++i)
#pragma unroll
            for (int tap = 0; tap <= taps; ++tap)
#pragma unroll
                for (int e = 0; e < 4; ++e) sums[i][tap][e] += unpromoted[i][tap][e], unpromoted[i][tap][e] = 0;
    }

    template <int m_blocks>
    __device__ static void multiply(Tiles const& tiles, unsigned char const* stage, PixelEntry const* pixels,
                                    std::uint32_t const* zeros, int const (&tap_offset)[tap_pairs], unsigned thread,
                                    unsigned images, unsigned rows, unsigned columns, bool has_bias,
                                    Sums<m_blocks>& sums) {
        int const warp = static_cast<int>(thread / 32), lane = static_cast<int>(thread % 32), steps = tiles.steps(),
                  pitch = tiles.dy.tile.pitch;
        unsigned char const* const x = stage + tiles.dy_bytes() + 16 * warp;
        // ldmatrix's four matrices of operand a: 8 pixels x filters 0 to 7, x filters 8 to 15, and the same for the
        // next 8 pixels
        unsigned char const* from_dy =
            stage + (lane / 16 * 8 + lane % 8) * pitch + 16 * ((m_blocks == 1 ? warp / 2 * 2 : 0) + lane / 8 % 2);
        PixelEntry const* entry = pixels + lane % 16;
#pragma unroll 2
        for (int step = 0; step < steps; ++step) {
            std::uint32_t a[m_blocks][4];
#pragma unroll
            for (int i = 0; i < m_blocks; ++i) sm80::ldmatrix_x4_trans(from_dy + 32 * i, a[i]);
            if (has_bias) {
                constexpr std::uint32_t one =
                    std::is_same_v<T, half> ? 0x3c003c00u : 0x3f803f80u;  // two elements of value 1
#pragma unroll
                for (int i = 0; i < m_blocks; ++i) sm80::mma_sync<factor>(sums[i][taps], a[i], {one, one});
            }
            PixelEntry const of = *entry;
            bool const exists = of.at >> 20 < images && (of.at >> 10 & 1023) < rows && (of.at & 1023) < columns;
            unsigned char const* const window = x + of.offset;
#pragma unroll
            for (int i = 0; i < tap_pairs; ++i) {
                std::uint32_t b[4];
                // zeros for pixels past dy: x may be infinite there, and infinity times dy's 0 is NaN
                sm80::ldmatrix_x4_trans(exists ? static_cast<void const*>(window + tap_offset[i]) : zeros, b);
#pragma unroll
                for (int m = 0; m < m_blocks; ++m) {
                    sm80::mma_sync<factor>(sums[m][2 * i], a[m], {b[0], b[1]});
                    if (2 * i + 1 < taps)
                        sm80::mma_sync<factor>(sums[m][(min)(2 * i + 1, taps - 1)], a[m], {b[2], b[3]});
                }
            }
            entry += 16, from_dy += 16 * pitch;
        }
    }
};

}  // namespace fusekit::hip
