// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/arch/params.hpp"
#include "fusekit/backend/hip/arch/processor.hpp"
#include "fusekit/backend/hip/launch.hpp"
#include "fusekit/backend/hip/schedule.hpp"
#include "fusekit/backend/hip/tile.hpp"

namespace fusekit::hip {

/// Convolution as a matrix product whose left operand, the windows, is never written down: a block computes TileM
/// pixels of TileN channels, step by step along GemmK. `fast` says what neighbours in memory, in x and in y.
///
/// While a step is multiplied out of one buffer of shared memory, the loads of the next are in flight to registers;
/// they are stored to the other buffer, and one barrier ends the step. The sums then go through shared memory once
/// more, so that whatever the layout, neighbouring threads write neighbouring elements, and the epilogue is applied
/// on the way out.
template <class Plan, class Schedule, Element T, Axis fast>
class ImplicitGemm {
    static constexpr int tile_m = Schedule::tile_m, tile_n = Schedule::tile_n, tile_k = Schedule::tile_k;
    static constexpr int pad = 4;  // floats a row, so that the columns of a store fall into different banks
    static constexpr int unrolled = gemm_unroll(Schedule::threads, Schedule::blocks);
    static constexpr bool padded = Plan::Head::may_be_padded, along_channels = fast == Axis::channel;
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;

public:
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;
    using Params = ConvParams<Plan, T>;
    using Inputs = std::conditional_t<along_channels, TileAlongK<T, tile_m, tile_k, threads>,
                                      TileAlongRows<T, tile_m, tile_k, threads, Plan::Head::may_be_single_pixels>>;
    using Weights = TileAlongK<T, tile_n, tile_k, threads>;

    struct Shared {
        struct Buffer {
            alignas(16) float x[tile_k][tile_m + pad];
            alignas(16) float w[tile_k][tile_n + pad];
        };
        union {
            Buffer buffers[2];
            alignas(16) float out[(along_channels ? tile_m : tile_n) / 4][(along_channels ? tile_n : tile_m) + pad];
        };
        Tap x_taps[2][tile_k], w_taps[2][tile_k];
        Digits at[tile_k], step;
        Pixel pixels[tile_m];
        std::int64_t offsets[tile_m];  ///< of the pixels, in y
        Slot<State> states[Epilogue::channelwise ? tile_n : 1];
    };

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        bool const channels_fastest = params.channels_fastest;
        auto const columns = static_cast<unsigned>(divide_up(conv.group_k(), tile_n));
        auto const groups = static_cast<unsigned>(conv.groups());
        int const group = static_cast<int>(block / columns % groups);
        int const first_m = static_cast<int>(block / columns / groups * tile_m);
        int const first_n = static_cast<int>(block % columns * tile_n);
        int const first_k = group * conv.group_k() + first_n;
        int const count_n = smaller(conv.group_k() - first_n, tile_n);

        for (unsigned i = thread; i < tile_m; i += threads) {
            Pixel const at = conv.pixel(first_m + static_cast<int>(i));
            shared.pixels[i] = at;
            shared.offsets[i] = conv.output_offset(at);
        }
        if constexpr (Epilogue::channelwise)
            for (int i = static_cast<int>(thread); i < count_n; i += threads)
                shared.states[i].value() = Epilogue::prepare(std::int64_t{first_k} + i, params.bound.epilogue);
        if (thread < tile_k) shared.at[thread] = conv.digits(thread, channels_fastest);
        if (thread == 0) shared.step = conv.digits(tile_k, channels_fastest);
        __syncthreads();

        Inputs inputs(thread, params.inputs_packed,
                      [&](unsigned i) { return conv.template input_row<padded>(shared.pixels[i], group); });
        Weights weights(thread, params.weights_packed,
                        [&](unsigned i) { return conv.filter_row(first_n + static_cast<int>(i), group); });
        int const steps = static_cast<int>(divide_up(conv.gemm_k(), tile_k));
        // A wave of 32 is 8 x 4 lanes, interleaved so that each half of it reads 16 different banks of either operand.
        unsigned const lane_m = thread / 2 % 8 + thread / 32 % (tile_m / 64) * 8;
        unsigned const lane_n = thread % 2 + thread / 16 % 2 * 2 + thread / 32 / (tile_m / 64) * 4;
        float sums[8][8] = {};  // (pixels, channels): 4 lane + i and half a tile further, both ways
        for (int step = -2; step < steps; ++step) {
            int const next = step + 1;
            bool const loads = next >= 0 && next < steps;
            if (loads) {
                inputs.load(shared.x_taps[next & 1]);
                weights.load(shared.w_taps[next & 1]);
            }
            if (thread < tile_k) {
                auto const taps = conv.template taps<padded>(shared.at[thread]);
                shared.x_taps[step & 1][thread] = taps.x;
                shared.w_taps[step & 1][thread] = taps.w;
                shared.at[thread] = conv.advanced(shared.at[thread], shared.step, channels_fastest);
            }
            if (step >= 0) multiply(shared.buffers[step & 1], lane_m, lane_n, sums);
            if (loads) {
                inputs.store(shared.buffers[next & 1].x);
                weights.store(shared.buffers[next & 1].w);
            }
            __syncthreads();
        }
        Params const& late = seen_anew(params);
        auto const write_pixel = [&](float sum, unsigned m, int n, auto const& state) {
            Pixel const at = shared.pixels[m];
            OutputCoord const place{at.n, first_k + n, at.p, at.q};
            T* const to = late.y.data + shared.offsets[m] + place.k * late.y.layout.stride[1];
            if (at.n >= 0) *to = T(Epilogue::apply(sum, place, state, late.bound.epilogue));
        };
        write(shared, thread, lane_m, lane_n, count_n, sums, write_pixel);
    }

private:
    __device__ static void quad(float const* from, float* to) {
        auto const four = *reinterpret_cast<Packet<float, 4> const*>(from);
#pragma unroll
        for (int i = 0; i < 4; ++i) to[i] = four.values[i];
    }

    __device__ static void multiply(typename Shared::Buffer const& buffer, unsigned lane_m, unsigned lane_n,
                                    float (&sums)[8][8]) {
        float const *from_x = &buffer.x[0][4 * lane_m], *from_w = &buffer.w[0][4 * lane_n];
#pragma unroll unrolled
        for (int k = 0; k < tile_k; ++k, from_x += tile_m + pad, from_w += tile_n + pad) {
            float x[8], w[8];
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

    /// Four rounds: in each, every thread hands over two rows of its sums, and the block writes a quarter of the tile's
    /// pixels of all channels, or of its channels of all pixels. A thread writes one column of what was handed over.
    template <class WritePixel>
    __device__ static void write(Shared& shared, unsigned thread, unsigned lane_m, unsigned lane_n, int count_n,
                                 float const (&sums)[8][8], WritePixel const& write_pixel) {
        constexpr int lines = (along_channels ? tile_m : tile_n) / 4, columns = along_channels ? tile_n : tile_m;
        unsigned const lane_line = along_channels ? lane_m : lane_n, lane_column = along_channels ? lane_n : lane_m;
        unsigned const column = thread % columns;
#pragma unroll
        for (int round = 0; round < 4; ++round) {
#pragma unroll
            for (int part = 0; part < 4; ++part) {
                int const row = 2 * round + part / 2;
                Packet<float, 4> four;
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    four.values[i] = along_channels ? sums[row][part % 2 * 4 + i] : sums[part % 2 * 4 + i][row];
                auto* const line = shared.out[2 * lane_line + part / 2];
                *reinterpret_cast<Packet<float, 4>*>(line + 4 * lane_column + part % 2 * columns / 2) = four;
            }
            __syncthreads();
#pragma unroll 1
            for (unsigned line = thread / columns; line < lines; line += threads / columns) {
                unsigned const row = line / 2 * 4 + 2 * (round % 2) + line % 2 + round / 2 * (2 * lines);
                int const n = static_cast<int>(along_channels ? column : row);
                if (n < count_n)
                    write_pixel(shared.out[line][column], along_channels ? row : column, n,
                                shared.states[Epilogue::channelwise ? n : 0].value());
            }
            __syncthreads();
        }
    }
};

}  // namespace fusekit::hip
