// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/arch/factor.hpp"
#include "fusekit/backend/hip/arch/processor.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/collective/load_tile.hpp"
#include "fusekit/backend/hip/collective/tile_totals.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/schedule.hpp"

namespace fusekit::hip {

/// Convolution as a matrix product. Its left operand, the windows of all pixels, is never stored as a matrix. A block
/// computes TileM pixels of TileN channels, in steps of TileK along GemmK. `fast` is the mode whose elements neighbour
/// in memory, in x and in y.
///
/// Shared memory has two buffers. While one step is multiplied from one of them, the next step's loads are in flight,
/// to registers or straight to the other buffer. One barrier ends the step. The offsets of GemmK's indices are computed
/// for several steps at once and by all threads alike, because a warp that does more than the others delays them at
/// every barrier. At the end the sums pass through shared memory, so that neighbouring threads write neighbouring
/// elements in every layout, and the epilogue is applied to them there.
template <class Plan, class Schedule, Element T, Axis fast>
class ImplicitGemm {
    static constexpr int tile_m = Schedule::tile_m, tile_n = Schedule::tile_n, tile_k = Schedule::tile_k;
    static constexpr int pad = 4;  // floats a row, so that the columns of a store fall into different banks
    static constexpr int unrolled = gemm_unroll(Schedule::threads, Schedule::blocks);
    static constexpr bool padded = Plan::Head::may_be_padded, along_channels = fast == Axis::channel;
    static constexpr bool rows_are_pixels = along_channels && !Plan::pools;  ///< of the buffer that sums leave through
    static constexpr int rows = (rows_are_pixels ? tile_m : tile_n) / 4, columns = rows_are_pixels ? tile_n : tile_m;
    static constexpr int partials = Schedule::threads / rows;  ///< that statistics add a row up in
    /// Indices of GemmK whose offsets are computed at once. A prologue keeps states for each of them, and AMD's blocks
    /// share 64 KB.
    static constexpr bool small_table = Plan::has_prologue && processor_shared_memory <= 128 * 1024;
    static constexpr int table_steps = max(1, min(Schedule::threads, small_table ? 32 : 128) / tile_k),
                         table = table_steps * tile_k;
    using Prologue = typename Plan::Prologue;
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    using Sum = AccumulatorOf<T>;
    using Totals = TileTotals<Plan, tile_n, tile_m / 16, Schedule::threads>;

public:
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;
    using Params = ConvParams<Plan, T>;
    using Convert = std::conditional_t<Plan::has_prologue, ApplyPrologue<Prologue, table>, Widen>;
    using Inputs =
        std::conditional_t<along_channels, TileAlongK<T, tile_m, tile_k, threads, Convert>,
                           TileAlongRows<T, tile_m, tile_k, threads, Plan::Head::may_be_single_pixels, Convert>>;
    using Weights = TileAlongK<T, tile_n, tile_k, threads>;

    struct Shared : PrologueStates<Prologue, table> {
        struct Buffer {
            alignas(16) Sum x[tile_k][tile_m + pad];
            alignas(16) Sum w[tile_k][tile_n + pad];
        };
        union {
            Buffer buffers[2];
            Packet<float, 4> out[rows][(columns + pad) / 4];
            typename Totals::Shared totals;
        };
        alignas(16) KOffset x_offsets[table], w_offsets[table];
        Pixel pixels[tile_m];
        std::int64_t offsets[tile_m];  ///< of the pixels, in y
        Uninitialized<State> states[Epilogue::channelwise ? tile_n : 1];
    };

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        bool const channels_fastest = params.channels_fastest;
        auto const tiles_n = static_cast<unsigned>(divide_up(conv.group_k(), tile_n));
        auto const groups = static_cast<unsigned>(conv.groups());
        int const group = static_cast<int>(block / tiles_n % groups);
        int const first_m = static_cast<int>(block / tiles_n / groups * tile_m);
        int const first_n = static_cast<int>(block % tiles_n * tile_n);
        int const first_k = group * conv.group_k() + first_n;
        auto const count_n = static_cast<unsigned>(min(conv.group_k() - first_n, tile_n));

        for (unsigned i = thread; i < tile_m; i += threads) {
            int const m = first_m + static_cast<int>(i);
            Pixel const at = Plan::pools ? conv.pixel_of_windows(m) : conv.pixel(m);
            shared.pixels[i] = at;
            shared.offsets[i] = conv.output_offset(at);
        }
        if constexpr (Epilogue::channelwise)
            for (unsigned i = thread; i < count_n; i += threads)
                shared.states[i].value() = Epilogue::prepare(std::int64_t{first_k} + i, params.bound.epilogue);
        __syncthreads();

        Inputs inputs(thread, params.inputs_vectorized,
                      [&](unsigned i) { return conv.template input_row<padded>(shared.pixels[i], group); });
        Weights weights(thread, params.weights_vectorized,
                        [&](unsigned i) { return conv.weight_row(first_n + static_cast<int>(i), group); });
        int const steps = static_cast<int>(divide_up(conv.gemm_k(), tile_k));
        // A wave of 32 is 8 x 4 lanes, interleaved so that each half of it reads 16 different banks of either operand.
        unsigned const lane_m = thread / 2 % 8 + thread / 32 % (tile_m / 64) * 8;
        unsigned const lane_n = thread % 2 + thread / 16 % 2 * 2 + thread / 32 / (tile_m / 64) * 4;
        Sum sums[8][8] = {};  // (pixels, channels): 4 lane + i and half a tile further, both ways
        for (int step = -1; step < steps; ++step) {
            int const next = step + 1, in_table = next % table_steps * tile_k;
            bool const loads = next < steps;
            typename Prologue::Args const& prologue = (Plan::has_prologue ? reload(params) : params).bound.prologue;
            if (loads && in_table == 0) {
                if (thread < table) {
                    unsigned const k = static_cast<unsigned>(next * tile_k) + thread;
                    KCoord const k_coord = conv.k_coord(k, channels_fastest);
                    auto const offsets = conv.template k_offsets<padded>(k_coord);
                    shared.x_offsets[thread] = offsets.x;
                    shared.w_offsets[thread] = offsets.w;
                    if constexpr (Prologue::channelwise)
                        if (k_coord.c < conv.group_c())
                            shared.put(thread,
                                       Prologue::prepare(std::int64_t{group * conv.group_c() + k_coord.c}, prologue));
                }
                __syncthreads();
            }
            if (loads) {
                inputs.load(&shared.x_offsets[in_table], shared.buffers[next & 1].x);
                weights.load(&shared.w_offsets[in_table], shared.buffers[next & 1].w);
            }
            if (step >= 0) multiply(shared.buffers[step & 1], lane_m, lane_n, sums);
            if (loads) {
                if constexpr (Plan::has_prologue)
                    inputs.store(shared.buffers[next & 1].x, {shared, static_cast<unsigned>(in_table), prologue});
                else inputs.store(shared.buffers[next & 1].x, {});
                weights.store(shared.buffers[next & 1].w, {});
            }
            __syncthreads();
        }
        Params const& reloaded = reload(params);
        std::int64_t const channel = reloaded.y.layout.stride[1];
        auto const store_element = [&](T* to, float sum, Pixel const& at, unsigned n, State const& state,
                                       auto const& collect) {
            OutputCoord const place{at.n, std::int64_t{first_k} + n, at.p, at.q};
            *to = T(Epilogue::apply(sum, place, state, reloaded.bound.epilogue, collect));
        };
        if constexpr (Plan::pools)
            return write_windows(reloaded, shared, thread, lane_m, lane_n, sums, first_k, count_n);
        unsigned const column = thread % columns;
        T* const first = reloaded.y.data + first_k * channel;
        typename Totals::Total totals[4];
        if constexpr (along_channels) {
            bool const exists = column < count_n;
            State const state = shared.states[Epilogue::channelwise && exists ? column : 0].value();
            T* const of_channel = first + column * channel;
            typename Totals::Accumulator accumulator;
            auto const write_row = [&](float sum, unsigned m, float&) {
                Pixel const at = shared.pixels[m];
                if (at.n >= 0 && exists)
                    store_element(of_channel + shared.offsets[m], sum, at, column, state,
                                  [&](float x) { accumulator.add(x); });
            };
            write(shared, thread, lane_m, lane_n, sums, write_row, [](int) {});
            totals[0] = accumulator.total();
        } else {
            Pixel const at = shared.pixels[column];
            T* const of_pixel = first + shared.offsets[column];
            auto const write_row = [&](float sum, unsigned n, float& collected) {
                if (at.n >= 0 && n < count_n)
                    store_element(of_pixel + std::int64_t{n} * static_cast<int>(channel), sum, at, n,
                                  shared.states[Epilogue::channelwise ? n : 0].value(),
                                  [&](float x) { collected = x; });
            };
            write(shared, thread, lane_m, lane_n, sums, write_row, [&](int round) {
                if constexpr (Plan::totals_tiles)
                    totals[round] = total_row(shared, thread, reloaded.problem().gemm_m() - first_m);
            });
        }
        if constexpr (Plan::totals_tiles) {
            auto& parts = shared.totals.parts;
#pragma unroll
            for (int round = 0; round < (along_channels ? 1 : 4); ++round) {
                if constexpr (along_channels) parts[thread / columns][column].value() = totals[0];
                else parts[thread % partials][tile_row(thread / partials, round)].value() = totals[round];
            }
            Totals::finalize(reloaded, shared.totals, along_channels ? threads / columns : partials, thread,
                             block / tiles_n / groups, block % (tiles_n * groups), first_k, count_n);
        }
    }

private:
    __device__ static void quad(Sum const* from, Sum* to) {
        auto const four = *reinterpret_cast<Packet<Sum, 4> const*>(from);
#pragma unroll
        for (int i = 0; i < 4; ++i) to[i] = factor(four.values[i]);
    }

    __device__ static void multiply(typename Shared::Buffer const& buffer, unsigned lane_m, unsigned lane_n,
                                    Sum (&sums)[8][8]) {
        Sum const *from_x = &buffer.x[0][4 * lane_m], *from_w = &buffer.w[0][4 * lane_n];
#pragma unroll unrolled
        for (int k = 0; k < tile_k; ++k, from_x += tile_m + pad, from_w += tile_n + pad) {
            Sum x[8], w[8];
            quad(from_x, x);
            quad(from_x + tile_m / 2, x + 4);
            quad(from_w, w);
            quad(from_w + tile_n / 2, w + 4);
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) sums[i][j] += x[i] * w[j];
        }
    }

    /// Four rounds: in each, every thread stores two rows of its sums, a quarter of the tile's pixels of all channels,
    /// or of its channels of all pixels, and consume(round) reads them. Neighbours in a packet are swapped, so that an
    /// even register of sums meets odd ones of factors: 2 % on an H200, whose register file has two banks.
    template <class Consume>
    __device__ static void transpose_through_shared(Shared& shared, unsigned lane_m, unsigned lane_n,
                                                    Sum const (&sums)[8][8], Consume const& consume) {
        unsigned const lane_row = rows_are_pixels ? lane_m : lane_n, lane_column = rows_are_pixels ? lane_n : lane_m;
#pragma unroll
        for (int round = 0; round < 4; ++round) {
#pragma unroll
            for (int part = 0; part < 4; ++part) {
                int const row = 2 * round + part / 2;
                Packet<float, 4> four;
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    four.values[i ^ 1] =
                        static_cast<float>(rows_are_pixels ? sums[row][part % 2 * 4 + i] : sums[part % 2 * 4 + i][row]);
                auto const second = static_cast<unsigned>(part / 2), half = static_cast<unsigned>(part % 2);
                shared.out[2 * lane_row + second][lane_column + half * columns / 8] = four;
            }
            __syncthreads();
            consume(round);
            __syncthreads();
        }
    }
    /// The row of the tile, a pixel or a channel, that a row of the buffer is in a round.
    __device__ static unsigned tile_row(unsigned row, int round) {
        auto const odd = static_cast<unsigned>(round % 2), later = static_cast<unsigned>(round / 2);
        return row / 2 * 4 + 2 * odd + row % 2 + later * (2 * rows);
    }

    /// A thread writes one column of the buffer: `write_row(sum, row of the tile, its place)`; then comes `end(round)`.
    template <class WriteRow, class End>
    __device__ static void write(Shared& shared, unsigned thread, unsigned lane_m, unsigned lane_n,
                                 Sum const (&sums)[8][8], WriteRow const& write_row, End const& end) {
        unsigned const column = thread % columns, first_row = threads == columns ? 0 : thread / columns;
        transpose_through_shared(shared, lane_m, lane_n, sums, [&](int round) {
#pragma unroll 4
            for (unsigned i = 0; i < rows * columns / threads; ++i) {
                unsigned const row = first_row + i * (threads / columns);
                float* const from = shared.out[row]->values;
                write_row(from[column ^ 1], tile_row(row, round), from[column ^ 1]);
            }
            end(round);
        });
    }

    /// Totals a part of a row of collected values, all of one channel: `pixels` of the tile's pixels count.
    __device__ static auto total_row(Shared const& shared, unsigned thread, int pixels) {
        typename Totals::Accumulator accumulator;
        auto const* const row = shared.out[thread / partials];
        __syncthreads();
#pragma unroll
        for (unsigned i = thread % partials; i < columns / 4; i += partials) {
            auto const four = row[i];
#pragma unroll
            for (int j = 0; j < 4; ++j) accumulator.add(four.values[j ^ 1], static_cast<int>(4 * i) + j < pixels);
        }
        return accumulator.total();
    }

    /// Writes windows of 2 x 2. Each is four neighbours in a row of one channel, and a thread takes whole windows.
    __device__ static void write_windows(Params const& params, Shared& shared, unsigned thread, unsigned lane_m,
                                         unsigned lane_n, Sum const (&sums)[8][8], int first_k, unsigned count_n) {
        using Reduce = typename Plan::Pool::Reduce;
        transpose_through_shared(shared, lane_m, lane_n, sums, [&](int round) {
#pragma unroll 1
            for (unsigned i = thread; i < rows * columns / 4; i += threads) {
                unsigned const row = along_channels ? i % rows : i / (columns / 4);
                unsigned const window = along_channels ? i / rows : i % (columns / 4), n = tile_row(row, round);
                Pixel const first = shared.pixels[4 * window];
                if (first.n < 0 || n >= count_n) continue;
                State const state = shared.states[Epilogue::channelwise ? n : 0].value();
                std::int64_t const k = std::int64_t{first_k} + n;
                float total = Reduce::template neutral<float>();
#pragma unroll
                for (int pixel = 0; pixel < 4; ++pixel) {
                    OutputCoord const at{first.n, k, first.p + pixel / 2, first.q + pixel % 2};
                    total = Reduce::combine(total, Epilogue::apply(shared.out[row][window].values[pixel ^ 1], at, state,
                                                                   params.bound.epilogue));
                }
                params.y(first.n, k, first.p / 2, first.q / 2) = T(Reduce::finish(total, 4));
            }
        });
    }
};

}  // namespace fusekit::hip
