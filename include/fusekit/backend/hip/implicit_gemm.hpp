// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/arch/factor.hpp"
#include "fusekit/backend/hip/arch/params.hpp"
#include "fusekit/backend/hip/arch/processor.hpp"
#include "fusekit/backend/hip/launch.hpp"
#include "fusekit/backend/hip/schedule.hpp"
#include "fusekit/backend/hip/tile.hpp"
#include "fusekit/backend/hip/tile_totals.hpp"

namespace fusekit::hip {

/// Convolution as a matrix product whose left operand, the windows, is never written down: a block computes TileM
/// pixels of TileN channels, step by step along GemmK. `fast` says what neighbours in memory, in x and in y.
///
/// While a step is multiplied out of one buffer of shared memory, the loads of the next are in flight, to registers or
/// straight to the other buffer; one barrier ends the step. What an index of GemmK means is worked out for several
/// steps at once, by all threads alike: a warp that does more than the others holds them up at every barrier. The sums
/// then go through shared memory once more, so that whatever the layout, neighbouring threads write neighbouring
/// elements, and the epilogue is applied on the way out.
template <class Plan, class Schedule, Element T, Axis fast>
class ImplicitGemm {
    static constexpr int tile_m = Schedule::tile_m, tile_n = Schedule::tile_n, tile_k = Schedule::tile_k;
    static constexpr int pad = 4;  // floats a row, so that the columns of a store fall into different banks
    static constexpr int unrolled = gemm_unroll(Schedule::threads, Schedule::blocks);
    static constexpr bool padded = Plan::Head::may_be_padded, along_channels = fast == Axis::channel;
    static constexpr bool pixel_lines = along_channels && !Plan::pools;  ///< what sums are handed over as
    static constexpr int lines = (pixel_lines ? tile_m : tile_n) / 4, columns = pixel_lines ? tile_n : tile_m;
    static constexpr int pieces = Schedule::threads / lines;  ///< that statistics add a line up in
    static constexpr int table_steps = smaller(Schedule::threads, 128) / tile_k, table = table_steps * tile_k;
    using Prologue = typename Plan::Prologue;
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    using InputState = typename Prologue::template State<float>;
    using Sum = Accumulator<T>;
    using Totals = TileTotals<Plan, tile_n, tile_m / 16, Schedule::threads>;

public:
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;
    using Params = ConvParams<Plan, T>;
    using Inputs = std::conditional_t<along_channels, TileAlongK<T, tile_m, tile_k, threads>,
                                      TileAlongRows<T, tile_m, tile_k, threads, Plan::Head::may_be_single_pixels,
                                                    Plan::has_prologue>>;
    using Weights = TileAlongK<T, tile_n, tile_k, threads>;

    struct Shared {
        struct Buffer {
            alignas(16) Sum x[tile_k][tile_m + pad];
            alignas(16) Sum w[tile_k][tile_n + pad];
        };
        union {
            Buffer buffers[2];
            Packet<float, 4> out[lines][(columns + pad) / 4];
            typename Totals::Shared totals;
        };
        alignas(16) Tap x_taps[table], w_taps[table];
        Pixel pixels[tile_m];
        std::int64_t offsets[tile_m];  ///< of the pixels, in y
        Slot<State> states[Epilogue::channelwise ? tile_n : 1];
        Slot<InputState> input_states[Prologue::channelwise ? table : 1];
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
        auto const count_n = static_cast<unsigned>(smaller(conv.group_k() - first_n, tile_n));

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

        Inputs inputs(thread, params.inputs_packed,
                      [&](unsigned i) { return conv.template input_row<padded>(shared.pixels[i], group); });
        Weights weights(thread, params.weights_packed,
                        [&](unsigned i) { return conv.filter_row(first_n + static_cast<int>(i), group); });
        int const steps = static_cast<int>(divide_up(conv.gemm_k(), tile_k));
        // A wave of 32 is 8 x 4 lanes, interleaved so that each half of it reads 16 different banks of either operand.
        unsigned const lane_m = thread / 2 % 8 + thread / 32 % (tile_m / 64) * 8;
        unsigned const lane_n = thread % 2 + thread / 16 % 2 * 2 + thread / 32 / (tile_m / 64) * 4;
        Sum sums[8][8] = {};  // (pixels, channels): 4 lane + i and half a tile further, both ways
        for (int step = -1; step < steps; ++step) {
            int const next = step + 1, in_table = next % table_steps * tile_k;
            bool const loads = next < steps;
            if (loads && in_table == 0) {
                if (thread < table) {
                    unsigned const k = static_cast<unsigned>(next * tile_k) + thread;
                    Digits const digits = conv.digits(k, channels_fastest);
                    auto const taps = conv.template taps<padded>(digits);
                    shared.x_taps[thread] = taps.x;
                    shared.w_taps[thread] = taps.w;
                    if constexpr (Prologue::channelwise)
                        if (digits.c < conv.group_c())
                            shared.input_states[thread].value() =
                                Prologue::prepare(std::int64_t{group * conv.group_c() + digits.c}, params.bound.prologue);
                }
                __syncthreads();
            }
            if (loads) {
                inputs.load(&shared.x_taps[in_table], shared.buffers[next & 1].x);
                weights.load(&shared.w_taps[in_table], shared.buffers[next & 1].w);
            }
            if (step >= 0) multiply(shared.buffers[step & 1], lane_m, lane_n, sums);
            if (loads) {
                inputs.store(shared.buffers[next & 1].x, [&](T value, Row<T> const& row, unsigned in_tile) {
                    return input(params, shared, value, row, static_cast<unsigned>(in_table) + in_tile);
                });
                weights.store(shared.buffers[next & 1].w, Widen{});
            }
            __syncthreads();
        }
        Params const& late = seen_anew(params);
        std::int64_t const channel = late.y.layout.stride[1];
        auto const put = [&](T* to, float sum, Pixel const& at, unsigned n, State const& state, auto const& observe) {
            OutputCoord const place{at.n, std::int64_t{first_k} + n, at.p, at.q};
            *to = T(Epilogue::apply(sum, place, state, late.bound.epilogue, observe));
        };
        if constexpr (Plan::pools) return write_windows(late, shared, thread, lane_m, lane_n, sums, first_k, count_n);
        unsigned const column = thread % columns;
        T* const first = late.y.data + first_k * channel;
        typename Totals::Total totals[4];
        if constexpr (along_channels) {
            bool const exists = column < count_n;
            State const state = shared.states[Epilogue::channelwise && exists ? column : 0].value();
            T* const of_channel = first + column * channel;
            typename Totals::Part part;
            auto const write_row = [&](float sum, unsigned m, float&) {
                Pixel const at = shared.pixels[m];
                if (at.n >= 0 && exists)
                    put(of_channel + shared.offsets[m], sum, at, column, state, [&](float x) { part.add(x); });
            };
            write(shared, thread, lane_m, lane_n, sums, write_row, [](int) {});
            totals[0] = part.total();
        } else {
            Pixel const at = shared.pixels[column];
            T* const of_pixel = first + shared.offsets[column];
            auto const write_row = [&](float sum, unsigned n, float& seen) {
                if (at.n >= 0 && n < count_n)
                    put(of_pixel + std::int64_t{n} * static_cast<int>(channel), sum, at, n,
                        shared.states[Epilogue::channelwise ? n : 0].value(), [&](float x) { seen = x; });
            };
            write(shared, thread, lane_m, lane_n, sums, write_row, [&](int round) {
                if constexpr (Plan::totals_tiles)
                    totals[round] = total_line(shared, thread, late.problem().gemm_m() - first_m);
            });
        }
        if constexpr (Plan::totals_tiles) {
            auto& parts = shared.totals.parts;
#pragma unroll
            for (int round = 0; round < (along_channels ? 1 : 4); ++round) {
                if constexpr (along_channels) parts[thread / columns][column].value() = totals[0];
                else parts[thread % pieces][row_of(thread / pieces, round)].value() = totals[round];
            }
            Totals::conclude(late, shared.totals, along_channels ? threads / columns : pieces, thread,
                             block / tiles_n / groups, block % (tiles_n * groups), first_k, count_n);
        }
    }

private:
    /// What the tile holds of an element of x, whose index of GemmK is at place `k` of the table: padding stays zero.
    __device__ static Sum input(Params const& params, Shared& shared, T value, Row<T> const& row, unsigned k) {
        if constexpr (!Plan::has_prologue) return widened(value);
        else return has(row, shared.x_taps[k]) ? before_conv<Plan>(params, shared.input_states[Prologue::channelwise ? k : 0].value(), value) : 0;
    }

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

    /// Four rounds: in each, every thread hands over two rows of its sums, a quarter of the tile's pixels of all
    /// channels, or of its channels of all pixels, and take(round) has them at hand. Neighbours in a pack trade places,
    /// so that an even register of sums meets odd ones of factors: 2 % on an H200, whose register file has two banks.
    template <class Take>
    __device__ static void hand_over(Shared& shared, unsigned lane_m, unsigned lane_n, Sum const (&sums)[8][8],
                                     Take const& take) {
        unsigned const lane_line = pixel_lines ? lane_m : lane_n, lane_column = pixel_lines ? lane_n : lane_m;
#pragma unroll
        for (int round = 0; round < 4; ++round) {
#pragma unroll
            for (int part = 0; part < 4; ++part) {
                int const row = 2 * round + part / 2;
                Packet<float, 4> four;
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    four.values[i ^ 1] =
                        static_cast<float>(pixel_lines ? sums[row][part % 2 * 4 + i] : sums[part % 2 * 4 + i][row]);
                auto const second = static_cast<unsigned>(part / 2), half = static_cast<unsigned>(part % 2);
                shared.out[2 * lane_line + second][lane_column + half * columns / 8] = four;
            }
            __syncthreads();
            take(round);
            __syncthreads();
        }
    }
    /// The row of the tile, a pixel or a channel, that a line is in a round.
    __device__ static unsigned row_of(unsigned line, int round) {
        auto const odd = static_cast<unsigned>(round % 2), later = static_cast<unsigned>(round / 2);
        return line / 2 * 4 + 2 * odd + line % 2 + later * (2 * lines);
    }

    /// A thread writes one column of what is handed over: `write_row(sum, row, its place)` does, with what belongs to
    /// its column at hand; then comes `end(round)`.
    template <class WriteRow, class End>
    __device__ static void write(Shared& shared, unsigned thread, unsigned lane_m, unsigned lane_n,
                                 Sum const (&sums)[8][8], WriteRow const& write_row, End const& end) {
        unsigned const column = thread % columns, first_line = threads == columns ? 0 : thread / columns;
        hand_over(shared, lane_m, lane_n, sums, [&](int round) {
#pragma unroll 4
            for (unsigned i = 0; i < lines * columns / threads; ++i) {
                unsigned const line = first_line + i * (threads / columns);
                float* const from = shared.out[line]->values;
                write_row(from[column ^ 1], row_of(line, round), from[column ^ 1]);
            }
            end(round);
        });
    }

    /// Totals a piece of a line of what was handed over of one channel, now what statistics are of: `pixels` of the
    /// tile's pixels count.
    __device__ static auto total_line(Shared const& shared, unsigned thread, int pixels) {
        typename Totals::Part part;
        auto const* const line = shared.out[thread / pieces];
        __syncthreads();
#pragma unroll
        for (unsigned i = thread % pieces; i < columns / 4; i += pieces) {
            auto const four = line[i];
#pragma unroll
            for (int j = 0; j < 4; ++j) part.add(four.values[j ^ 1], static_cast<int>(4 * i) + j < pixels);
        }
        return part.total();
    }

    /// Windows of 2 x 2, each four neighbours in a line of one channel: a thread takes whole ones.
    __device__ static void write_windows(Params const& params, Shared& shared, unsigned thread, unsigned lane_m,
                                         unsigned lane_n, Sum const (&sums)[8][8], int first_k, unsigned count_n) {
        using Reduce = typename Plan::Pool::Reduce;
        hand_over(shared, lane_m, lane_n, sums, [&](int round) {
#pragma unroll 1
            for (unsigned i = thread; i < lines * columns / 4; i += threads) {
                unsigned const line = along_channels ? i % lines : i / (columns / 4);
                unsigned const window = along_channels ? i / lines : i % (columns / 4), n = row_of(line, round);
                Pixel const first = shared.pixels[4 * window];
                if (first.n < 0 || n >= count_n) continue;
                State const state = shared.states[Epilogue::channelwise ? n : 0].value();
                std::int64_t const k = std::int64_t{first_k} + n;
                float total = Reduce::template neutral<float>();
#pragma unroll
                for (int pixel = 0; pixel < 4; ++pixel) {
                    OutputCoord const at{first.n, k, first.p + pixel / 2, first.q + pixel % 2};
                    total = Reduce::combine(total, Epilogue::apply(shared.out[line][window].values[pixel ^ 1], at,
                                                                   state, params.bound.epilogue));
                }
                params.y(first.n, k, first.p / 2, first.q / 2) = T(Reduce::finish(total, 4));
            }
        });
    }
};

}  // namespace fusekit::hip
