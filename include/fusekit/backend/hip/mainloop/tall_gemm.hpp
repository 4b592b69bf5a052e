// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/mma_sync.hpp"
#include "fusekit/backend/hip/copy/transposed_rows.hpp"
#include "fusekit/backend/hip/mainloop/warp_roles.hpp"
#include "fusekit/backend/hip/offset_coord.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"

namespace fusekit::hip {

/// Product of many rows with few channels (schedule/tall_gemm.hpp): y[m, k] = epilogue(sum over c of x[m, c] w[k, c]),
/// where m counts the pixels of y. While a CTA multiplies a tile, bulk copies load the next two and store the last one.
/// A lane loads four consecutive channels of a row, which it has in both operands of the MMA instruction: the order of
/// GemmK within an instruction does not matter. The filters of a TransposedConv, contiguous along k in memory, are
/// transposed once by threads.
template <class Plan, class Schedule, Element T, Element U>
class TallGemmConv : public TmaKernel {
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    using Unit = MmaSync<T>;
    static constexpr int stages = TallTiles::stages, warps = TallTiles::warps, n_blocks = TallTiles::warp_filters / 8;
    static constexpr bool transposed = has_transposed_conv<Plan>;
    static_assert(sizeof(T) == 2 && sizeof(U) <= 4 && TallTiles::warp_rows == Unit::m);

public:
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;
    using Params = ConvParams<Plan, T, U>;
    using Architecture = arch::Sm90a;

    struct alignas(128) DynamicShared {
        unsigned char staged[TallTiles::shared_bytes];
        Uninitialized<State> states[Epilogue::channelwise ? TallTiles::max_channels : 1];
        TmaStages<stages> full;
        TmaStages<1> filters_full;

        __device__ T* filters() { return reinterpret_cast<T*>(staged); }
        __device__ T* x(TallTiles const& tiles, int filters, unsigned stage) {
            return reinterpret_cast<T*>(staged + filters + stage * static_cast<unsigned>(tiles.x_stage));
        }
        __device__ U* y(TallTiles const& tiles, int filters, unsigned stage) {
            return reinterpret_cast<U*>(staged + filters + stages * tiles.x_stage +
                                        stage * static_cast<unsigned>(tiles.y_stage));
        }
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
        if constexpr (!transposed)
            load(shared.filters(), conv.w.data, rows.filters * rows.channels, shared.filters_full, 0, thread);
        for (unsigned stage = 0; stage < stages; ++stage)
            load_tile(shared, rows, tiles, block + stage * gridDim.x, stage, thread);
        if constexpr (transposed) copy_filters(shared.filters(), conv.w, rows, tiles.filter_vector, thread);
        if constexpr (Epilogue::channelwise) {
            for (int k = static_cast<int>(thread); k < rows.filters; k += threads)
                shared.states[k].value() = Epilogue::prepare(std::int64_t{k}, params.bound.epilogue);
        }
        __syncthreads();
        if constexpr (!transposed) shared.filters_full.consumer_wait(0, 0);
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
            store(params.y.data + std::int64_t{first} * rows.filters, shared.y(tiles, rows.bytes, buffer),
                  count * rows.filters, thread);
        }
        if (thread == 0) ptx::bulk_wait_group_read();
    }

private:
    struct Rows {
        T const* x;
        int all, channels, filters, pitch, bytes;  ///< elements from a filter to the next, and bytes of SMEM for all

        template <class Problem>
        __device__ Rows(Params const& params, Problem const& conv)
            : x(params.x.data),
              all(conv.gemm_m()),
              channels(conv.group_c()),
              filters(static_cast<int>(params.y.layout.shape[1])),
              pitch(TallTiles::filter_pitch(channels, transposed)),
              bytes(static_cast<int>(TallTiles::stage_of(pitch * filters * static_cast<int>(sizeof(T))))) {}
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
        load(shared.x(tiles, rows.bytes, stage), rows.x + std::int64_t{first} * rows.channels,
             (min)(tiles.rows, rows.all - first) * rows.channels, shared.full, stage, thread);
    }

    __device__ static void copy_filters(T* to, TensorView<T const> const& w, Rows const& rows, int vector,
                                        unsigned thread) {
        Index<4> const& stride = w.layout.stride;
        auto const copy = [&]<int of_load>(std::integral_constant<int, of_load>) {
            copy_transposed_rows<of_load>(to, rows.pitch, w.data, rows.filters, rows.channels,
                                          divide_up_32(rows.channels, TallTiles::step) * TallTiles::step, stride[0],
                                          stride[1], thread, threads);
        };
        if (vector == 8) copy(std::integral_constant<int, 8>{});
        else if (vector == 4) copy(std::integral_constant<int, 4>{});
        else if (vector == 2) copy(std::integral_constant<int, 2>{});
        else copy(std::integral_constant<int, 1>{});
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
        T const* const x = shared.x(params.tall, rows.bytes, stage);
#pragma unroll 1
        for (int i = static_cast<int>(thread / 32); i < all; i += warps) {
            int const column = i / of_rows, m = (i - column * of_rows) * TallTiles::warp_rows,
                      k = column * TallTiles::warp_filters;
            // rows past the tile are multiplied, and not stored
            Block const block{x + (m + lane / 4) * rows.channels, shared.filters(), first, m, k, count, lane};
            auto const with = [&]<int blocks>(std::integral_constant<int, blocks>) {
                float acc[blocks][4] = {};
                if (rows.channels % 4 == 0) accumulate<4>(acc, block, rows);
                else if (!transposed || rows.channels % 2 == 0) accumulate<2>(acc, block, rows);
                else if constexpr (transposed) accumulate<1>(acc, block, rows);
                finish(params, conv, shared, rows, buffer, acc, block);
            };
            if (rows.filters - k <= 8) with(std::integral_constant<int, 1>{});
            else if (rows.filters - k <= 16) with(std::integral_constant<int, 2>{});
            else with(std::integral_constant<int, n_blocks>{});
        }
    }

    /// A warp's 16 rows x 32 filters of a tile: `x` is the lane's first row, `first` the tile's first row of all,
    /// `count` the tile's number of rows, m and k the block's first row in the tile and first filter.
    struct Block {
        T const *x, *filters;
        int first, m, k, count, lane;
    };

    /// A lane's elements c to c + 3 of a row, in two words. Loads `vector` elements at a time.
    struct alignas(8) Words {
        std::uint32_t of[2];
    };
    template <int vector>
    __device__ static Words words(T const* row, int c) {
        if constexpr (vector == 4) return *reinterpret_cast<Words const*>(row + c);
        if constexpr (vector == 1) return words_below<1>(row, c, c + 4);
        auto const* const from = reinterpret_cast<std::uint32_t const*>(row + c);
        return {{from[0], from[1]}};
    }
    /// words() of elements below `channels`, a multiple of `vector`; zeros from there on.
    template <int vector>
    __device__ static Words words_below(T const* row, int c, int channels) {
        if constexpr (vector == 1) {
            auto const* const bits = reinterpret_cast<std::uint16_t const*>(row);
            auto const at = [&](int i) { return i < channels ? std::uint32_t{bits[i]} : 0u; };
            return {{at(c) | at(c + 1) << 16, at(c + 2) | at(c + 3) << 16}};
        }
        bool const exist[2] = {c < channels, c + (vector == 4 ? 0 : 2) < channels};
        auto const* const from = reinterpret_cast<std::uint32_t const*>(row);
        std::uint32_t const low = from[exist[0] ? c / 2 : 0], high = from[exist[1] ? c / 2 + 1 : 0];
        return {{exist[0] ? low : 0u, exist[1] ? high : 0u}};
    }
    /// acc += x w for a lane's two rows of x, 8 rows apart, and its filters, 8 apart. Filters past the last one are
    /// multiplied, as the last one, and not stored.
    template <int vector, int blocks>
    __device__ static void accumulate(float (&acc)[blocks][4], Block const& block, Rows const& rows) {
        int const channels = rows.channels, whole = channels / TallTiles::step * TallTiles::step;
        T const* w[blocks];
#pragma unroll
        for (int j = 0; j < blocks; ++j)
            w[j] = block.filters + (min)(block.k + block.lane / 4 + 8 * j, rows.filters - 1) * rows.pitch;
        int c = block.lane % 4 * 4;
        auto const step = [&](auto const& load) {
            Words const upper = load(block.x), lower = load(block.x + 8 * channels);
            Words b[blocks];
#pragma unroll
            for (int j = 0; j < blocks; ++j) {
                if constexpr (transposed) b[j] = words<4>(w[j], c);  // filters end with zeros
                else b[j] = load(w[j]);
            }
            std::uint32_t const a[4] = {upper.of[0], lower.of[0], upper.of[1], lower.of[1]};
#pragma unroll
            for (int j = 0; j < blocks; ++j) Unit::multiply_columns(acc[j], a, b[j].of);
        };
#pragma unroll 2
        for (int end = c + whole; c < end; c += TallTiles::step)
            step([&](T const* row) { return words<vector>(row, c); });
        if (whole < channels) step([&](T const* row) { return words_below<vector>(row, c, channels); });
    }

    /// Applies the epilogue to a warp's block and stages it.
    template <class Problem, int blocks>
    __device__ static void finish(Params const& params, Problem const& conv, DynamicShared& shared, Rows const& rows,
                                  unsigned buffer, float const (&acc)[blocks][4], Block const& block) {
        Index<4> const& stride = params.y.layout.stride;
        bool const even = rows.filters % 2 == 0;
        U* const y = shared.y(params.tall, rows.bytes, buffer);
        State states[blocks][2];
        int const last = rows.filters - 1, own = block.k + Unit::column(block.lane, 0);
        if constexpr (Epilogue::channelwise) {
#pragma unroll
            for (int j = 0; j < blocks; ++j)
#pragma unroll
                for (int e = 0; e < 2; ++e) states[j][e] = shared.states[(min)(own + 8 * j + e, last)].value();
        }
#pragma unroll
        for (int side = 0; side < 2; ++side) {
            int const row = block.m + Unit::row(block.lane, 2 * side);
            bool const exists = row < block.count;
            Pixel const at = conv.existing_pixel(block.first + (min)(row, block.count - 1));
            std::int64_t const offset = at.p * stride[2] + at.q * stride[3];
            U* const to = y + row * rows.filters;
#pragma unroll
            for (int j = 0; j < blocks; ++j) {
                int const channel = own + 8 * j;
                auto const value = [&](int e) {
                    int const of = (min)(channel + e, last);
                    // operators that store see each element once
                    if (Epilogue::stores && !(exists && channel + e <= last)) return U(0.0f);
                    OffsetCoord const coord({at.n, of, at.p, at.q}, offset + of, stride);
                    return U(Epilogue::apply(acc[j][2 * side + e], coord, states[j][e], params.bound.epilogue));
                };
                U const low = value(0), high = value(1);
                if (even) {
                    if (exists && channel <= last) *reinterpret_cast<Packet<U, 2>*>(to + channel) = {{low, high}};
                } else {
                    if (exists && channel <= last) to[channel] = low;
                    if (exists && channel < last) to[channel + 1] = high;
                }
            }
        }
    }
};

}  // namespace fusekit::hip
