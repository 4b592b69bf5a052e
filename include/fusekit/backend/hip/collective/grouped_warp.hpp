// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/sm80.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/grouped_tma_tiles.hpp"
#include "fusekit/config.hpp"
#include "fusekit/tensor/dtype.hpp"

namespace fusekit::hip {

/// Run `number` of a tile, which starts at pixel (image, row, column) of the tile; the last run for larger numbers.
struct GroupedRun {
    int image, row, column;

    __device__ GroupedRun(GroupedTmaTiles const& tiles, int number) {
        auto const inside = static_cast<unsigned>((min)(number, tiles.tile.runs() - 1)),
                   of_rows = tiles.runs_across.divide(inside), of_images = tiles.rows.divide(of_rows);
        image = static_cast<int>(of_images), row = static_cast<int>(of_rows) - image * tiles.tile.rows;
        column = static_cast<int>(inside - of_rows * tiles.runs_across.value()) * GroupedTmaTile::run;
    }
    /// Index in the box of x of the first pixel of the run's first window; index of the run's first pixel of y.
    __device__ int box_pixel(GroupedTmaTile const& tile, int stride) const {
        return (image * tile.box_rows + row * stride) * tile.box_columns + column * stride;
    }
    /// For phase (a, b) of y.
    __device__ int pixel(GroupedTmaTile const& tile, int a = 0, int b = 0) const {
        return ((image * tile.rows + row) * tile.phases + a) * tile.columns * tile.phases + column * tile.phases + b;
    }
};

/// Address in SMEM of 16 bytes of a swizzled box in which rows have `pixel_bytes` bytes.
__device__ inline std::uint32_t swizzled_address(std::uint32_t address, unsigned mask) {
    return address ^ (address >> 3 & mask);
}

/// A warp's 16 filters and the addresses of its operands.
template <Element T, class Geometry>
struct GroupedWarp {
    using Tile = GroupedTmaTile;
    using Words = Packet<std::uint32_t, 4>;
    static constexpr int length = Tile::run, side = Tile::side;
    using Accumulators = float[length][2][4];  ///< [pixel of a run][N-block of 8 filters][fragment]
    static constexpr auto factor = std::is_same_v<T, half> ? sm80::Factor::half : sm80::Factor::bfloat16;

    GroupedTmaTiles const& tiles;
    Geometry const& filter;
    int stride, first;  ///< stride of the windows; the warp's first filter
    unsigned row_bytes;  ///< of the box of x
    unsigned char const* filters;  ///< of the warp, in SMEM (copy/grouped_fragments.hpp)
    unsigned lane;
    int first_of_tile;  ///< the CTA's first filter

    __device__ unsigned mask() const { return static_cast<unsigned>(tiles.tile.pixel_bytes()) - 16; }

    /// Multiplies a run's windows of 16 runs, from the lane's address of the first pixel of a run on: `pairs`: 8
    /// channels of two taps, else 16 channels of a tap. (16 runs x 7, 16 filters) += over taps and channels
    template <bool pairs, int step>
    __device__ void multiply(Accumulators& acc, std::uint32_t x) const {
        constexpr int columns = (length - 1) * step + side, ahead = 3;
        auto const pixel = static_cast<unsigned>(tiles.tile.pixel_bytes());
        int const channels = pairs ? 1 : static_cast<int>(tiles.group_channels.value()) / 16;
        if constexpr (!pairs) x -= static_cast<unsigned>(first_in_group()) * 2;
        Words const* fragments = reinterpret_cast<Words const*>(filters) + lane;
        auto weights = first_weights();
        unsigned const tap_bytes = 2 * tiles.group_channels.value(), block_bytes = weight_block_bytes();
#pragma unroll 1
        for (int row = 0; row < side; ++row, x += row_bytes, weights += side * tap_bytes) {
#pragma unroll 1
            for (int c = 0; c < channels; ++c) {
                std::uint32_t const start = x + static_cast<unsigned>(c) * 32;
                std::uint32_t a[columns][4];
                auto const fetch = [&](int j) {
                    ptx::ldmatrix_x4<false>(swizzled_address(start + static_cast<unsigned>(j) * pixel, mask()), a[j]);
                };
                Words b[side];
                if constexpr (pairs) {
                    b[0] = fragments[0], b[1] = fragments[32];
                    fragments += 64;
                } else {
#pragma unroll
                    for (int tap = 0; tap < side; ++tap)
                        fetch_weights(
                            weights + static_cast<unsigned>(tap) * tap_bytes + static_cast<unsigned>(c) * block_bytes,
                            b[tap].values);
                }
#pragma unroll
                for (int j = 0; j < ahead; ++j) fetch(j);
#pragma unroll
                for (int j = 0; j < columns; ++j) {
                    if (j + ahead < columns) fetch(j + ahead);
                    if constexpr (pairs) {
                        if ((j - 1) % step == 0 && j >= 1 && (j - 1) / step < length) {
                            int const m = (j - 1) / step;
#pragma unroll
                            for (int n = 0; n < 2; ++n) {
                                std::uint32_t const of_taps[4] = {a[j - 1][2 * n], a[j - 1][2 * n + 1], a[j][2 * n],
                                                                  a[j][2 * n + 1]};
                                mma(acc[m][n], of_taps, b[0], n);
                            }
                        }
                        if ((j - 2) % step == 0 && j >= 2) {
                            int const m = (j - 2) / step;
#pragma unroll
                            for (int n = 0; n < 2; ++n) {
                                std::uint32_t const of_tap[2] = {a[j][2 * n], a[j][2 * n + 1]};
                                sm80::mma_sync<factor>(acc[m][n], of_tap, b[1].values[2 * n]);
                            }
                        }
                    } else {
#pragma unroll
                        for (int tap = 0; tap < side; ++tap) {
                            if ((j - tap) % step != 0 || j < tap || (j - tap) / step >= length) continue;
                            int const m = (j - tap) / step;
#pragma unroll
                            for (int n = 0; n < 2; ++n) mma(acc[m][n], a[j], b[tap], n);
                        }
                    }
                }
            }
        }
    }
    /// The lane's address for the fragments of B of the first tap and 16 channels, of groups of at least 16 channels,
    /// and bytes to those of the next 16. Rows of B: lanes 0 to 7 have filters 0 to 7, lanes 16 to 23 filters 8 to 15,
    /// other lanes their next 8 channels; by channels, lanes 0 to 15 have the weights of 16 channels for filters 0 to
    /// 7, the others for filters 8 to 15.
    __device__ std::uint32_t first_weights() const {
        std::uint32_t const at = ptx::shared_address(filters), pitch = tiles.tile.weight_pitch();
        if constexpr (detail::is_transposed<Geometry>)
            if (tiles.by_channels) {
                auto const before = static_cast<unsigned>(first_in_group());
                return at + (lane % 16 - before) * pitch + (before + lane / 16 * 8) * 2;
            }
        return at + (lane / 16 * 8 + lane % 8) * pitch + lane / 8 % 2 * 16;
    }
    __device__ unsigned weight_block_bytes() const {
        if constexpr (detail::is_transposed<Geometry>)
            if (tiles.by_channels) return 16 * tiles.tile.weight_pitch();
        return 32;
    }
    __device__ void fetch_weights(std::uint32_t at, std::uint32_t (&words)[4]) const {
        if constexpr (detail::is_transposed<Geometry>)
            if (tiles.by_channels) return ptx::ldmatrix_x4<true>(at, words);
        ptx::ldmatrix_x4<false>(at, words);
    }

    /// Multiplies the windows of a phase of y, which have `taps` columns, like multiply().
    template <bool pairs, int taps>
    __device__ void multiply_phase(Accumulators& acc, std::uint32_t x, GroupedPhase const& phase) const {
        constexpr int columns = length + taps - 1, ahead = 3, apart = 2;  // apart: from a tap of the phase to the next
        auto const pixel = static_cast<unsigned>(tiles.tile.pixel_bytes());
        int const channels = pairs ? 1 : static_cast<int>(tiles.group_channels.value()) / 16;
        if constexpr (!pairs) x -= static_cast<unsigned>(first_in_group()) * 2;
        x += static_cast<unsigned>(phase.start.w - (taps - 1)) * pixel;
        auto const weights = first_weights();
        unsigned const tap_bytes = 2 * tiles.group_channels.value(), block_bytes = weight_block_bytes();
#pragma unroll 1
        for (int i = 0; i < phase.count.h; ++i) {
            int const r = phase.first.h + i * apart;
#pragma unroll 1
            for (int c = 0; c < channels; ++c) {
                std::uint32_t const start =
                    x + static_cast<unsigned>(phase.start.h - i) * row_bytes + static_cast<unsigned>(c) * 32;
                std::uint32_t a[columns][4];
                auto const fetch = [&](int j) {
                    ptx::ldmatrix_x4<false>(swizzled_address(start + static_cast<unsigned>(j) * pixel, mask()), a[j]);
                };
                Words b[taps];  // in the order of their columns of x
                if constexpr (pairs) {
                    b[0] = reinterpret_cast<Words const*>(
                        filters)[static_cast<unsigned>(r * 64 + (taps == 1) * 32) + lane];
                } else {
#pragma unroll
                    for (int tap = 0; tap < taps; ++tap) {
                        int const number = r * side + phase.first.w + (taps - 1 - tap) * apart;
                        fetch_weights(weights + static_cast<unsigned>(number) * tap_bytes +
                                          static_cast<unsigned>(c) * block_bytes,
                                      b[tap].values);
                    }
                }
#pragma unroll
                for (int j = 0; j < ahead; ++j) fetch(j);
#pragma unroll
                for (int j = 0; j < columns; ++j) {
                    if (j + ahead < columns) fetch(j + ahead);
#pragma unroll
                    for (int n = 0; n < 2; ++n) {
                        if constexpr (pairs && taps == 2) {
                            if (j == 0) continue;
                            std::uint32_t const of_taps[4] = {a[j - 1][2 * n], a[j - 1][2 * n + 1], a[j][2 * n],
                                                              a[j][2 * n + 1]};
                            mma(acc[j - 1][n], of_taps, b[0], n);
                        } else if constexpr (pairs) {
                            std::uint32_t const of_tap[2] = {a[j][2 * n], a[j][2 * n + 1]};
                            sm80::mma_sync<factor>(acc[j][n], of_tap, b[0].values[2 * n]);
                        } else {
#pragma unroll
                            for (int tap = 0; tap < taps; ++tap)
                                if (j >= tap && j - tap < length) mma(acc[j - tap][n], a[j], b[tap], n);
                        }
                    }
                }
            }
        }
    }
    __device__ static void mma(float (&acc)[4], std::uint32_t const (&a)[4], Words const& b, int n) {
        std::uint32_t const of_block[2] = {b.values[2 * n], b.values[2 * n + 1]};
        sm80::mma_sync<factor>(acc, a, of_block);
    }
    /// Filters of the warp's group before its first one.
    __device__ int first_in_group() const {
        return static_cast<int>(tiles.group_channels.remainder(static_cast<unsigned>(first)));
    }

    /// Computes accumulators that are not finite again, in multiply-adds of their own group: the MMAs multiplied
    /// other groups' channels by zeros, which gives NaN if these are infinite or NaN.
    template <class Conv>
    __device__ void recompute_infinite(Accumulators& acc, Conv const& conv, GroupedPhase const& phase,
                                       unsigned char const* x, int first_run) const {
#pragma unroll 1
        for (int i = 0; i < length * 8; ++i) {
            float value = 0;
#pragma unroll
            for (int other = 0; other < length * 8; ++other)
                value = other == i ? acc[other / 8][other / 4 % 2][other % 4] : value;
            if (config::bit_cast<std::uint32_t>(value) << 1 < 0xff000000u) continue;
            int const k = first + i / 4 % 2 * 8 + static_cast<int>(lane % 4) * 2 + i % 2,
                      number = first_run + static_cast<int>(lane / 4) + i / 2 % 2 * 8;
            float const sum =
                k < static_cast<int>(conv.y[1]) ? sum_of(conv, phase, x, k, GroupedRun(tiles, number), i / 8) : 0;
#pragma unroll
            for (int other = 0; other < length * 8; ++other) {
                float& each = acc[other / 8][other / 4 % 2][other % 4];
                each = other == i ? sum : each;
            }
        }
    }
    template <class Conv>
    __device__ float sum_of(Conv const& conv, GroupedPhase const& phase, unsigned char const* x, int k,
                            GroupedRun const& at, int m) const {
        int const channels = static_cast<int>(tiles.group_channels.value()),
                  group = static_cast<int>(tiles.group_channels.divide(static_cast<unsigned>(k)));
        Layout<4> const& w = conv.w.layout;
        T const* const weights = conv.weights_of(group) + (k - group * channels) * w.stride[0];
        float sum = 0;
        for (int tap = 0; tap < phase.count.h * phase.count.w; ++tap) {
            int const r = tap / phase.count.w, s = tap % phase.count.w,
                      pixel = at.box_pixel(tiles.tile, stride) + m * stride +
                              (phase.start.h + r * phase.move.h) * tiles.tile.box_columns + phase.start.w +
                              s * phase.move.w;
            T const* const of_tap = weights + (phase.first.h + r * phase.step.h) * w.stride[2] +
                                    (phase.first.w + s * phase.step.w) * w.stride[3];
            for (int c = 0; c < channels; ++c) {
                unsigned const byte = static_cast<unsigned>(group * channels - first_of_tile + c) * 2;
                auto const* const at_x = reinterpret_cast<T const*>(
                    x + swizzled_address(static_cast<unsigned>(pixel * tiles.tile.pixel_bytes()) + byte, mask()));
                sum += static_cast<float>(*at_x) * static_cast<float>(of_tap[c * w.stride[1]]);
            }
        }
        return sum;
    }

    /// True if all accumulators are finite; their sum may overflow, too, which costs a closer look.
    __device__ static bool is_finite(Accumulators const& acc) {
        float sums[8] = {};
#pragma unroll
        for (int i = 0; i < length * 8; ++i) sums[i % 8] += acc[i / 8][i / 4 % 2][i % 4];
        float const sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
        return config::bit_cast<std::uint32_t>(sum) << 1 < 0xff000000u;
    }
};

}  // namespace fusekit::hip
