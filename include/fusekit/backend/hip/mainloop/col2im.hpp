// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/mma_sync.hpp"
#include "fusekit/backend/hip/mainloop/warp_roles.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"
#include "fusekit/backend/hip/thread_coord.hpp"

namespace fusekit::hip {

/// TransposedConv to few channels (schedule/col2im.hpp), for tiles of y: products[r, s, c][p, q] = sum over k of x[k,
/// p, q] w[k, c, r, s] for the pixels (p, q) of x that the tile's windows read, then y[c, h, w] = epilogue(sum over r,
/// s of products[r, s, c][h + pad - r dilation, w + pad - s dilation]). While the CTA adds a tile's products, TMA loads
/// the next tile of x.
template <class Plan, class Schedule, Element T, Element U>
class Col2imGemm : public TmaKernel {
    using Tiles = Col2imTiles;
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    using Unit = MmaSync<T>;
    using Words = Packet<std::uint32_t, 4>;
    static constexpr Filter<2> filter = Plan::Head::filter;
    static constexpr int taps_down = filter.size.h, taps_across = filter.size.w, warps = Tiles::threads / 32;

public:
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;
    using Params = ConvParams<Plan, T, U>;
    using Architecture = arch::Sm90a;

    struct alignas(1024) DynamicShared {
        unsigned char bytes[Tiles::shared_bytes];  ///< box of x, filters, products
        Uninitialized<State> states[Epilogue::channelwise ? Tiles::max_channels : 1];
        TmaStages<1> full;
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        Tiles const& tiles = params.col2im;
        int const channels = conv.group_k();
        begin(thread, [&] {
            shared.full.init();
            ptx::fence_mbarrier_init();
        });
        if (thread == 0) load(tiles, shared, Tile(tiles, block));
        if constexpr (Epilogue::channelwise) {
            if (static_cast<int>(thread) < channels)
                shared.states[thread].value() =
                    Epilogue::prepare(static_cast<std::int64_t>(thread), params.bound.epilogue);
        }
        store_filters(tiles, conv, shared.bytes + tiles.filters_at(), thread);
        __syncthreads();
        auto* const products = reinterpret_cast<float*>(shared.bytes + tiles.product_at());
        unsigned phase = 0;
        for (unsigned number = block; number < tiles.all; number += gridDim.x, phase ^= 1) {
            Tile const tile(tiles, number);
            shared.full.consumer_wait(0, phase);
            multiply(tiles, shared, products, thread);
            __syncthreads();
            unsigned const next = number + gridDim.x;
            if (next >= tiles.all) start_next_kernel();
            else if (thread == 0) load(tiles, shared, Tile(tiles, next));
            add(params, shared, products, tile, channels, thread);
            __syncthreads();
        }
    }

private:
    /// A tile of y: image, and first pixel.
    struct Tile {
        int n, h, w;

        __device__ Tile(Tiles const& tiles, unsigned number) {
            unsigned const image = tiles.of_image.divide(number), in_image = number - image * tiles.of_image.value(),
                           row = tiles.of_row.divide(in_image);
            n = static_cast<int>(image), h = static_cast<int>(row) * tiles.rows;
            w = static_cast<int>(in_image - row * tiles.of_row.value()) << tiles.column_bits;
        }
    };

    /// Issues the TMA loads of a tile's box of x, in one thread.
    __device__ static void load(Tiles const& tiles, DynamicShared& shared, Tile const& tile) {
        auto const full = shared.full.producer_expect_tx(0, static_cast<unsigned>(tiles.k_blocks * tiles.bytes_of_x()));
        int const p = tile.h + filter.pad_before.h - (taps_down - 1) * filter.dilations.h,
                  q = tile.w + filter.pad_before.w - (taps_across - 1) * filter.dilations.w;
#pragma unroll 1
        for (int i = 0; i < tiles.k_blocks; ++i)
            ptx::tma_load(ptx::shared_address(shared.bytes) + static_cast<unsigned>(i * tiles.block_bytes()), &tiles.x,
                          full, {i * Tiles::row_channels, q, p, tile.n});
    }

    /// Stores the filters as fragments b of the MMA: for each 16 channels of x and 16 columns (r, s, c), a lane's words
    /// of two instructions. Zeros past the last channel and column.
    template <class Problem>
    __device__ static void store_filters(Tiles const& tiles, Problem const& conv, unsigned char* to, unsigned thread) {
        Index<4> const& stride = conv.w.layout.stride;
        int const channels = conv.group_k(), columns = taps_down * taps_across * channels,
                  all = tiles.filter_bytes() / 4;
        auto* const words = reinterpret_cast<Packet<T, 2>*>(to);
#pragma unroll 2
        for (int i = static_cast<int>(thread); i < all; i += threads) {
            int const e = i % 4, lane = i / 4 % 32, step = i / 128 / tiles.pairs, pair = i / 128 - step * tiles.pairs,
                      column = pair * 16 + e / 2 * 8 + lane / 4, k = step * 16 + e % 2 * 8 + lane % 4 * 2,
                      tap = column / channels, c = column - tap * channels, r = tap / taps_across;
            T const* const from =
                conv.w.data + c * stride[0] + k * stride[1] + r * stride[2] + (tap - r * taps_across) * stride[3];
            bool const exists = column < columns;
            words[i] = {{load_if(exists && k < conv.group_c(), from),
                         load_if(exists && k + 1 < conv.group_c(), from + stride[1])}};
        }
    }

    /// Stores the products of a box of x: (16 COLUMNS, 16 BLOCKS) = over k. Each warp computes every warps-th block of
    /// 16 pixels x 32 columns.
    __device__ static void multiply(Tiles const& tiles, DynamicShared& shared, float* products, unsigned thread) {
        int const blocks_of_column = tiles.m_blocks(), all = blocks_of_column * divide_up_32(tiles.pairs, 2);
#pragma unroll 1
        for (int i = static_cast<int>(thread / 32); i < all; i += warps) {
            int const chunk = static_cast<int>(tiles.blocks.divide(static_cast<unsigned>(i))),
                      m = (i - chunk * blocks_of_column) * 16;
            if (tiles.pairs - 2 * chunk > 1) multiply<2>(tiles, shared, products, m, 2 * chunk, thread % 32);
            else multiply<1>(tiles, shared, products, m, 2 * chunk, thread % 32);
        }
    }
    template <int pairs>
    __device__ static void multiply(Tiles const& tiles, DynamicShared& shared, float* products, int m, int first,
                                    unsigned lane) {
        unsigned const row = static_cast<unsigned>(m) + lane % 16;
        auto x = ptx::shared_address(shared.bytes) + row * Tiles::row_bytes;
        Words const* filters = reinterpret_cast<Words const*>(shared.bytes + tiles.filters_at()) + first * 32 + lane;
        float acc[2 * pairs][4] = {};
#pragma unroll 2
        for (int step = 0; step < tiles.k_steps; ++step, filters += tiles.pairs * 32) {
            unsigned const chunk = static_cast<unsigned>(step % 4 * 2) + lane / 16;
            std::uint32_t a[4];
            ptx::ldmatrix_x4<false>(x + (chunk ^ row % 8) * 16, a);
#pragma unroll
            for (int j = 0; j < pairs; ++j) {
                Words const b = filters[j * 32];
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    std::uint32_t const columns[2] = {b.values[2 * i], b.values[2 * i + 1]};
                    Unit::multiply_columns(acc[2 * j + i], a, columns);
                }
            }
            if (step % 4 == 3) x += static_cast<unsigned>(tiles.block_bytes());
        }
        int const pitch = tiles.pitch();
#pragma unroll
        for (int j = 0; j < 2 * pairs; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e)
                products[((first * 2 + j) * 8 + Unit::column(static_cast<int>(lane), e)) * pitch + m +
                         Unit::row(static_cast<int>(lane), e)] = acc[j][e];
    }

    /// Adds the products of each pixel's window, applies the epilogue and stores to y.
    __device__ static void add(Params const& params, DynamicShared& shared, float const* products, Tile const& tile,
                               int channels, unsigned thread) {
        Tiles const& tiles = params.col2im;
        Index<4> const& y = params.y.layout.shape;
        int const pitch = tiles.pitch(), next_row = filter.dilations.h * tiles.box_columns;
#pragma unroll 1
        for (int i = static_cast<int>(thread); i < tiles.rows << tiles.column_bits; i += threads) {
            int const row = i >> tiles.column_bits, column = i & (tiles.columns() - 1), h = tile.h + row,
                      w = tile.w + column;
            if (h >= y[2] || w >= y[3]) continue;
            float sums[Tiles::max_channels] = {};
            // the first tap reads the last pixel of the window
            float const* from = products + (row * tiles.box_columns + column + (taps_down - 1) * next_row +
                                            (taps_across - 1) * filter.dilations.w);
#pragma unroll 1
            for (int r = 0; r < taps_down; ++r, from += taps_across * channels * pitch - next_row)
#pragma unroll
                for (int s = 0; s < taps_across; ++s) {
                    float const* const of_tap = from + s * (channels * pitch - filter.dilations.w);
#pragma unroll
                    for (int c = 0; c < Tiles::max_channels; ++c)
                        if (c < channels) sums[c] += of_tap[c * pitch];
                }
#pragma unroll
            for (int c = 0; c < Tiles::max_channels; ++c) {
                if (c >= channels) break;
                State state = {};
                if constexpr (Epilogue::channelwise) state = shared.states[c].value();
                params.y(tile.n, c, h, w) =
                    U(Epilogue::apply(sums[c], ThreadCoord({tile.n, c, h, w}), state, params.bound.epilogue));
            }
        }
    }
};

}  // namespace fusekit::hip
