// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/mma_sync.hpp"
#include "fusekit/backend/hip/mainloop/warp_roles.hpp"
#include "fusekit/backend/hip/offset_coord.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"

namespace fusekit::hip {

/// Product of many rows with few channels (schedule/tall_gemm.hpp): y[m, k] = epilogue(sum over c of x[m, c] w[k, c]),
/// where m counts the pixels of y. While a CTA multiplies a tile, bulk copies load the next two and store the last one.
/// A lane loads four consecutive channels of a row, which it has in both operands of the MMA instruction: the order of
/// GemmK within an instruction does not matter.
template <class Plan, class Schedule, Element T, Element U>
class TallGemmConv : public TmaKernel {
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    using Unit = MmaSync<T>;
    static constexpr int stages = 2, warps = TallTiles::warps, n_blocks = TallTiles::warp_filters / 8;
    static_assert(sizeof(T) == 2 && sizeof(U) <= 4 && TallTiles::warp_rows == Unit::m);

public:
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;
    using Params = ConvParams<Plan, T, U>;
    using Architecture = arch::Sm90a;

    struct alignas(128) DynamicShared {
        T x[stages][TallTiles::stage_bytes / sizeof(T)];
        T filters[TallTiles::filter_bytes / sizeof(T)];
        U y[2][TallTiles::stage_bytes / sizeof(U)];
        Uninitialized<State> states[Epilogue::channelwise ? TallTiles::max_channels : 1];
        TmaStages<stages> full;
        TmaStages<1> filters_full;
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        Rows const rows(params, conv);
        TallTiles const& tiles = params.tall;
        begin(thread, [&] {
            shared.full.init();
            shared.filters_full.init();
            ptx::fence_mbarrier_init();
        });
        load(shared.filters, conv.w.data, rows.filters * rows.channels, shared.filters_full, 0, thread);
        for (unsigned stage = 0; stage < stages; ++stage)
            load_tile(shared, rows, tiles, block + stage * gridDim.x, stage, thread);
        if constexpr (Epilogue::channelwise) {
            for (int k = static_cast<int>(thread); k < rows.filters; k += threads)
                shared.states[k].value() = Epilogue::prepare(std::int64_t{k}, params.bound.epilogue);
        }
        __syncthreads();
        shared.filters_full.consumer_wait(0, 0);
        PipelineState<stages> state;
        unsigned buffer = 0;
        for (unsigned tile = block; tile < tiles.tiles; tile += gridDim.x, state.advance(), buffer ^= 1) {
            shared.full.consumer_wait(state);
            int const first = static_cast<int>(tile) * tiles.rows, count = (min)(tiles.rows, rows.all - first);
            if (tile + gridDim.x >= tiles.tiles) start_next_kernel();
            multiply(params, conv, shared, rows, state.stage, buffer, first, count, thread);
            ptx::fence_proxy_async();
            // the previous tile's store has read the other buffer, which the next tile is written to
            if (thread == 0) ptx::bulk_wait_group_read();
            __syncthreads();
            load_tile(shared, rows, tiles, tile + stages * gridDim.x, state.stage, thread);
            store(params.y.data + std::int64_t{first} * rows.filters, shared.y[buffer], count * rows.filters, thread);
        }
        if (thread == 0) ptx::bulk_wait_group_read();
    }

private:
    struct Rows {
        T const* x;
        int all, channels, filters;

        template <class Problem>
        __device__ Rows(Params const& params, Problem const& conv)
            : x(params.x.data),
              all(conv.gemm_m()),
              channels(conv.group_c()),
              filters(static_cast<int>(params.y.layout.shape[1])) {}
    };

    /// Copies `count` contiguous elements to SMEM, on whose mbarrier the bulk copy of all whole 16 bytes completes; the
    /// others are visible after the CTA's next barrier. All threads call it.
    template <class Stages>
    __device__ static void load(T* to, T const* from, int count, Stages const& full, unsigned stage, unsigned thread) {
        int const whole = count / 8 * 8;
        if (thread == 0) {
            unsigned const bytes = static_cast<unsigned>(whole) * sizeof(T);
            std::uint32_t const barrier = full.producer_expect_tx(stage, bytes);
            if (bytes > 0) ptx::bulk_load(ptx::shared_address(to), from, bytes, barrier);
        }
        int const rest = whole + static_cast<int>(thread);
        if (rest < count) to[rest] = from[rest];
    }
    __device__ static void load_tile(DynamicShared& shared, Rows const& rows, TallTiles const& tiles, unsigned tile,
                                     unsigned stage, unsigned thread) {
        if (tile >= tiles.tiles) return;
        int const first = static_cast<int>(tile) * tiles.rows;
        load(shared.x[stage], rows.x + std::int64_t{first} * rows.channels,
             (min)(tiles.rows, rows.all - first) * rows.channels, shared.full, stage, thread);
    }

    /// Stores `count` contiguous elements from SMEM. All threads call it.
    __device__ static void store(U* to, U const* from, int count, unsigned thread) {
        constexpr int packet = 16 / static_cast<int>(sizeof(U));
        int const whole = count / packet * packet;
        if (thread == 0) {
            if (whole > 0) ptx::bulk_store(to, ptx::shared_address(from), static_cast<unsigned>(whole) * sizeof(U));
            ptx::bulk_commit_group();
        }
        int const rest = whole + static_cast<int>(thread);
        if (rest < count) to[rest] = from[rest];
    }

    /// Multiplies the `count` rows of a tile from row `first` of x on. Each warp computes every warps-th block of 16
    /// rows x 32 filters.
    template <class Problem>
    __device__ static void multiply(Params const& params, Problem const& conv, DynamicShared& shared, Rows const& rows,
                                    unsigned stage, unsigned buffer, int first, int count, unsigned thread) {
        int const lane = static_cast<int>(thread % 32), of_rows = divide_up_32(count, TallTiles::warp_rows),
                  all = of_rows * divide_up_32(rows.filters, TallTiles::warp_filters);
#pragma unroll 1
        for (int i = static_cast<int>(thread / 32); i < all; i += warps) {
            int const column = i / of_rows, m = (i - column * of_rows) * TallTiles::warp_rows,
                      k = column * TallTiles::warp_filters;
            float acc[n_blocks][4] = {};
            // rows past the tile are multiplied, and not stored
            T const *const x = shared.x[stage] + (m + lane / 4) * rows.channels, *const w =
                                                                                     shared.filters +
                                                                                     (k + lane / 4) * rows.channels;
            if (rows.channels % 4 == 0) accumulate<4>(acc, x, w, rows, k, lane);
            else accumulate<2>(acc, x, w, rows, k, lane);
            finish(params, conv, shared, rows, buffer, acc, first, m, k, count, lane);
        }
    }

    /// Two words of a lane: elements c to c + 3 of a row; zeros from element `channels` on. Loads `vector` elements at
    /// a time.
    template <int vector>
    __device__ static void words(std::uint32_t (&to)[2], T const* row, int c, int channels) {
        if constexpr (vector == 4) {
            struct alignas(8) Pair {
                std::uint32_t words[2];
            };
            Pair const pair = c < channels ? *reinterpret_cast<Pair const*>(row + c) : Pair{};
            to[0] = pair.words[0], to[1] = pair.words[1];
        } else {
#pragma unroll
            for (int i = 0; i < 2; ++i)
                to[i] = c + 2 * i < channels ? *reinterpret_cast<std::uint32_t const*>(row + c + 2 * i) : 0u;
        }
    }
    /// acc += x w for a lane's two rows of x, 8 rows apart, and its filters from w on, 8 apart: filters k to k + 31.
    template <int vector>
    __device__ static void accumulate(float (&acc)[n_blocks][4], T const* x, T const* w, Rows const& rows, int k,
                                      int lane) {
        int const channels = rows.channels, own = rows.filters - k - lane / 4;
#pragma unroll 2
        for (int first = 0; first < channels; first += TallTiles::step) {
            int const c = first + lane % 4 * 4;
            std::uint32_t upper[2], lower[2];
            words<vector>(upper, x, c, channels);
            words<vector>(lower, x + 8 * channels, c, channels);
            std::uint32_t const a[4] = {upper[0], lower[0], upper[1], lower[1]};
#pragma unroll
            for (int j = 0; j < n_blocks; ++j) {
                if (k + 8 * j >= rows.filters) continue;
                std::uint32_t b[2];
                words<vector>(b, w + j * 8 * channels, c, 8 * j < own ? channels : 0);
                Unit::multiply_columns(acc[j], a, b);
            }
        }
    }

    /// Applies the epilogue to a block of 16 rows from row `m` of the tile on and 32 filters from `k` on, and stages
    /// it.
    template <class Problem>
    __device__ static void finish(Params const& params, Problem const& conv, DynamicShared& shared, Rows const& rows,
                                  unsigned buffer, float const (&acc)[n_blocks][4], int first, int m, int k, int count,
                                  int lane) {
        Index<4> const& stride = params.y.layout.stride;
        bool const even = rows.filters % 2 == 0;
        State states[n_blocks][2];
        if constexpr (Epilogue::channelwise) {
#pragma unroll
            for (int j = 0; j < n_blocks; ++j)
#pragma unroll
                for (int e = 0; e < 2; ++e) {
                    int const channel = k + 8 * j + Unit::column(lane, e);
                    states[j][e] = shared.states[channel < rows.filters ? channel : 0].value();
                }
        }
#pragma unroll
        for (int side = 0; side < 2; ++side) {
            int const row = m + Unit::row(lane, 2 * side);
            if (row >= count) continue;
            Pixel const at = conv.existing_pixel(first + row);
            std::int64_t const offset = at.p * stride[2] + at.q * stride[3];
            U* const to = shared.y[buffer] + row * rows.filters;
#pragma unroll
            for (int j = 0; j < n_blocks; ++j) {
                int const channel = k + 8 * j + Unit::column(lane, 0);
                if (channel >= rows.filters) continue;
                auto const value = [&](int e) {
                    OffsetCoord const coord({at.n, channel + e, at.p, at.q}, offset + channel + e, stride);
                    return U(Epilogue::apply(acc[j][2 * side + e], coord, states[j][e], params.bound.epilogue));
                };
                U const low = value(0);
                if (even) {
                    *reinterpret_cast<Packet<U, 2>*>(to + channel) = {{low, value(1)}};
                } else {
                    to[channel] = low;
                    if (channel + 1 < rows.filters) to[channel + 1] = value(1);
                }
            }
        }
    }
};

}  // namespace fusekit::hip
