// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/sm80.hpp"
#include "fusekit/backend/hip/epilogue/grouped_store.hpp"

namespace fusekit::hip {

namespace detail {

/// True if a head's filter may have 3 x 3 taps, so that rows of A may be kept for a strip (GroupedTile::slides).
template <class Head>
inline constexpr bool may_slide = true;
template <class Head>
    requires requires { Head::collapsed; }
inline constexpr bool may_slide<Head> = Head::collapsed.size == PerMode<2>{3, 3};

}  // namespace detail

/// Grouped convolution by mma.sync (schedule/grouped.hpp). GemmM is pixels, 16 columns of a row of y per MMA; GemmN is
/// filters, 8 per MMA (an N-block); GemmK is taps and channels of x, two pairs of a tap and 8 channels per MMA.
template <class Plan, class Schedule, Element T, Element U>
class GroupedConv {
    using Head = typename Plan::Head;
    using Store = GroupedStore<Plan, T, U>;
    using Half = std::uint32_t[2];  ///< half of a fragment of operand a: 16 columns x one pair of a tap and 8 channels
    static constexpr bool slides =
        detail::may_slide<Head> && !detail::spreads<typename ConvParams<Plan, T, U>::Geometry>;
    static constexpr int strip = GroupedTile::strip, n_blocks = GroupedTile::unit / 8;
    using Accumulators = float[strip][n_blocks][4];
    static constexpr auto factor = std::is_same_v<T, half> ? sm80::Factor::half : sm80::Factor::bfloat16;

public:
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;
    using Architecture = arch::Sm80;
    using Params = ConvParams<Plan, T, U>;
    /// Fragments of the filters, offsets of the pairs, and the halo. A launch requests the bytes of its tile, not of
    /// the largest one.
    struct DynamicShared {
        typename Store::States states;
        alignas(16) unsigned char bytes[GroupedTile::max_shared_bytes];
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        using Load = GroupedLoad<T, threads>;
        GroupedTiles const& tiles = params.grouped;
        GroupedTile const& tile = tiles.tile;
        GroupedCoord const at(tiles, block);
        auto const conv = params.problem();
        auto* const filters = reinterpret_cast<std::uint32_t*>(shared.bytes);
        auto* const offsets = reinterpret_cast<int*>(shared.bytes + tile.filter_bytes());
        unsigned char* const halo = shared.bytes + tile.filter_bytes() + tile.offset_bytes();
        Filter<2> const window = grouped_window(conv.filter);
        if (tiles.x_planes) Load::copy_planes(tiles, at, params.x, window, halo, thread);
        else Load::copy_halo(tiles, at, params.x, window, halo, thread);
        Load::store_filters(tiles, at, conv, filters, thread);
        Load::fill_offsets(tiles, conv, offsets, thread);
        shared.states.prepare(params, at.k, thread);
        wait_for_copies();
        __syncthreads();

        int const warp = static_cast<int>(thread / 32), unit = warp % tile.units,
                  count = static_cast<int>(tile.strip_columns());
        Warp const of{tiles,
                      at,
                      filters + unit * n_blocks * tile.steps * 64,
                      offsets,
                      halo,
                      thread % 32,
                      unit,
                      static_cast<int>(params.y.layout.shape[1]) - at.k - unit * GroupedTile::unit,
                      tile.halo_rows * tile.halo_columns * tile.pitch,
                      window.strides[0] * tile.halo_columns * tile.pitch,
                      window.strides[1] * tile.pitch,
                      window.dilations[1] * tile.pitch};
        Store const epilogue(params, at, unit, of.lane);
#pragma unroll 1
        for (int column = warp / tile.units * 16; column < count; column += threads / 32 / tile.units * 16) {
            unsigned char const* const first = of.window(column + static_cast<int>(of.lane % 16), count);
            Load::for_each_phase(tiles, conv, [&](PerMode<2> const& number, GroupedPhase const& phase, int first_step) {
                Accumulators acc = {};
                int const pairs = phase.count.h * phase.count.w * tile.channel_blocks;
                if (slides && tile.slides) of.slide(acc, first);
                else if (tile.share == 1) of.template multiply<1>(acc, first, first_step, pairs);
                else if (tile.share == 2) of.template multiply<2>(acc, first, first_step, pairs);
                else of.template multiply<4>(acc, first, first_step, pairs);
                bool const recompute = !tile.isolated && !is_finite(acc);
                auto pixels = epilogue.pixels(column + static_cast<int>(of.lane / 4), count, number);
                typename Store::LaneStates const states(shared.states, unit, of.lane);
                // not unrolled, so that the epilogue's code is not repeated for every row
#pragma unroll 1
                for (int m = 0; m < strip; ++m) {
                    float row[n_blocks][4];
                    copy_row(acc, m, row);
                    if (recompute) of.recompute_if_infinite(row, conv, phase, column, count, m);
                    converge_warp();
                    epilogue.store(row, states, pixels, m);
                }
            });
        }
    }

private:
    /// Copies row m of the accumulators, by a switch, because registers cannot be indexed at run time.
    __device__ static void copy_row(Accumulators const& acc, int m, float (&row)[n_blocks][4]) {
        static_assert(strip == 4);
        auto const copy = [&](float const(&from)[n_blocks][4]) {
#pragma unroll
            for (int i = 0; i < n_blocks * 4; ++i) row[i / 4][i % 4] = from[i / 4][i % 4];
        };
        switch (m) {
            case 0: copy(acc[0]); break;
            case 1: copy(acc[1]); break;
            case 2: copy(acc[2]); break;
            default: copy(acc[3]); break;
        }
    }

    /// True if the sum of all accumulators is finite, and so are all of them. False also if the sum overflows, which
    /// costs time, not correctness.
    __device__ static bool is_finite(Accumulators const& acc) {
        float sum = 0;
#pragma unroll
        for (int i = 0; i < strip * n_blocks * 4; ++i) sum += acc[i / (n_blocks * 4)][i / 4 % n_blocks][i % 4];
        return config::bit_cast<std::uint32_t>(sum) << 1 < 0xff000000u;
    }

    /// A warp's 32 filters and the addresses of its operands in SMEM.
    struct Warp {
        GroupedTiles const& tiles;
        GroupedCoord const& at;
        std::uint32_t const* filters;
        int const* offsets;
        unsigned char const* halo;
        unsigned lane;
        int unit;
        int filters_left;  ///< channels of y from the warp's first filter on
        int image_bytes, row_bytes,
            column_bytes;  ///< bytes in the halo from a pixel's window to that of the next image, row and column
        int tap_bytes;  ///< bytes in the halo from a tap to the next in its row

        /// Address in the halo of the window of column `i`, counted over all strips of the tile, in the first row of
        /// its strip.
        __device__ unsigned char const* window(int i, int count) const {
            auto const inside = static_cast<unsigned>(i < count ? i : count - 1);
            unsigned const number = tiles.columns.divide(inside), column = inside - number * tiles.columns.value();
            GroupedStrip const of(tiles, number);
            return halo + of.image * image_bytes + of.strip * strip * row_bytes +
                   static_cast<int>(column) * column_bytes;
        }
        __device__ unsigned char const* n_block(unsigned char const* first, int j) const {
            return first + 16 * at.first_block(tiles, unit * n_blocks + j);
        }
        /// Fragment of operand b (the filters) of N-block j for one step, two pairs. (8 filters, 16)
        __device__ Packet<std::uint32_t, 2> fragment(int j, int step) const {
            return *reinterpret_cast<Packet<std::uint32_t, 2> const*>(
                filters + (static_cast<unsigned>(j * tiles.tile.steps + step) * 32 + lane) * 2);
        }
        __device__ static void mma(float (&acc)[4], Half const& first, Half const& second,
                                   Packet<std::uint32_t, 2> const& b) {
            std::uint32_t const a[4] = {first[0], first[1], second[0], second[1]};
            sm80::mma_sync<factor>(acc, a, b.values);
        }

        /// Multiplies `pairs` pairs of a phase, from a step on, for windows of any size. Each fragment of operand a is
        /// multiplied by the `share` consecutive N-blocks that read its channels.
        template <int share>
        __device__ void multiply(Accumulators& acc, unsigned char const* first, int first_step, int pairs) const {
            constexpr int loads = n_blocks / share;
            int const end = first_step + pairs / 2, half = static_cast<int>(lane / 16);
            unsigned char const* starts[loads];
#pragma unroll
            for (int i = 0; i < loads; ++i) starts[i] = n_block(first, i * share);
            auto const multiply_step = [&]<bool is_even>(std::bool_constant<is_even>, int step, int offset) {
#pragma unroll
                for (int i = 0; i < loads; ++i) {
                    std::uint32_t a[strip][4];
#pragma unroll
                    for (int m = 0; m < strip; ++m) {
                        sm80::ldmatrix_x4(starts[i] + offset + m * row_bytes, a[m]);
                        if constexpr (!is_even) a[m][2] = 0, a[m][3] = 0;  // no second pair: zeros, as its weights are
                    }
#pragma unroll
                    for (int j = i * share; j < (i + 1) * share; ++j) {
                        Packet<std::uint32_t, 2> const b = fragment(j, step);
#pragma unroll
                        for (int m = 0; m < strip; ++m) sm80::mma_sync<factor>(acc[m][j], a[m], b.values);
                    }
                }
            };
            int offset = offsets[2 * first_step + half];
#pragma unroll 1
            for (int step = first_step; step < end; ++step) {
                int const next = offsets[2 * (min)(step + 1, tiles.tile.steps - 1) + half];
                multiply_step(std::true_type{}, step, offset);
                offset = next;
            }
            if (pairs % 2 != 0) multiply_step(std::false_type{}, end, offset);
        }

        /// Multiplies 3 x 3 windows of 8 channels with row stride 1. The windows of adjacent rows of y overlap: a row
        /// of x is loaded from SMEM once per filter column and kept in registers for all rows of y that read it.
        /// (strip, 16 columns, 8 filters) += over taps
        __device__ void slide(Accumulators& acc, unsigned char const* first) const {
            constexpr int side = 3, taps = side * side, rows = strip + side - 1;
            auto const distance = [&](int number) { return number / side * row_bytes + number % side * tap_bytes; };
#pragma unroll
            for (int j = 0; j < n_blocks; ++j) {
                if (8 * j < filters_left) {
                    unsigned char const* const from = n_block(first, j);
                    Half x[rows * side + 1] = {};  // [row][column], and zeros
                    Packet<std::uint32_t, 2> b[(taps + 1) / 2];
#pragma unroll
                    for (int step = 0; step < (taps + 1) / 2; ++step) b[step] = fragment(j, step);
#pragma unroll
                    for (int m = 0; m < strip; ++m) {
#pragma unroll
                        for (int i = 0; i < rows * side; i += 2) {
                            // row 0 of y loads three rows of x, each later row one more
                            if (i >= (m + side) * side || (m > 0 && i < (m + side - 1) * side)) continue;
                            std::uint32_t a[4];
                            sm80::ldmatrix_x4(from + (lane < 16 ? distance(i) : distance(i + 1)), a);
                            x[i][0] = a[0], x[i][1] = a[1], x[i + 1][0] = a[2], x[i + 1][1] = a[3];
                        }
#pragma unroll
                        for (int tap = 0; tap < taps; tap += 2)
                            mma(acc[m][j], x[m * side + tap], x[tap + 1 < taps ? m * side + tap + 1 : rows * side],
                                b[tap / 2]);
                    }
                }
            }
        }

        /// Recomputes the accumulators of row m that are not finite, by FMAs over the channels of their own group
        /// alone: the MMAs multiplied channels of other groups by zero weights, which gives NaN if these channels are
        /// infinite or NaN.
        template <class Conv>
        __device__ void recompute_if_infinite(float (&row)[n_blocks][4], Conv const& conv, GroupedPhase const& phase,
                                              int column, int count, int m) const {
            constexpr int total = n_blocks * 4;
            std::uint32_t infinite = 0;  // bit per accumulator of the row that is not finite
#pragma unroll
            for (int i = 0; i < total; ++i) {
                bool const is_finite = config::bit_cast<std::uint32_t>(row[i / 4][i % 4]) << 1 < 0xff000000u;
                infinite |= is_finite || 8 * (i / 4) >= filters_left ? 0 : 1u << i;
            }
            if (infinite == 0) return;
#pragma unroll 1
            for (int i = 0; i < total; ++i) {
                if ((infinite >> i & 1) == 0) continue;
                int const k = unit * GroupedTile::unit + i / 4 * 8 + static_cast<int>(lane % 4) * 2 + i % 2;
                float const sum =
                    sum_of(conv, phase, at.k + k,
                           window(column + static_cast<int>(lane / 4) + i % 4 / 2 * 8, count) + m * row_bytes);
#pragma unroll
                for (int other = 0; other < total; ++other)
                    row[other / 4][other % 4] = other == i ? sum : row[other / 4][other % 4];
            }
        }

        template <class Conv>
        __device__ float sum_of(Conv const& conv, GroupedPhase const& phase, int filter,
                                unsigned char const* window) const {
            int const group = static_cast<int>(tiles.group_filters.divide(static_cast<unsigned>(filter))),
                      channel = group * tiles.group_channels - 8 * at.channel_block;
            Index<4> const& stride = conv.w.layout.stride;
            T const* const weights = GroupedLoad<T, threads>::weights_of(tiles, conv, filter, group);
            float sum = 0;
            for (int r = 0; r < phase.count.h; ++r)
                for (int s = 0; s < phase.count.w; ++s) {
                    int const row = phase.start.h + r * phase.move.h, column = phase.start.w + s * phase.move.w;
                    auto const* const x = reinterpret_cast<T const*>(window + (row * tiles.tile.halo_columns + column) *
                                                                                  tiles.tile.pitch) +
                                          channel;
                    T const* const tap = weights + (phase.first.h + r * phase.step.h) * stride[2] +
                                         (phase.first.w + s * phase.step.w) * stride[3];
                    for (int c = 0; c < tiles.group_channels; ++c)
                        sum += static_cast<float>(x[c]) * static_cast<float>(tap[c * stride[1]]);
                }
            return sum;
        }
    };
};

}  // namespace fusekit::hip
