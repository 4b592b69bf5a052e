// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/device.hpp"
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
public:
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;
    using Params = ConvParams<Plan, T>;

private:
    static constexpr int tile_m = Schedule::tile_m, tile_n = Schedule::tile_n, tile_k = Schedule::tile_k;
    static constexpr int pad = 4;  // floats a row, so that the columns of a store fall into different banks
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    using Inputs = std::conditional_t<fast == Axis::channel, TileAlongK<T, tile_m, tile_k, threads>,
                                      TileAlongRows<T, tile_m, tile_k, threads>>;
    using Weights = TileAlongK<T, tile_n, tile_k, threads>;

public:
    /// Neighbouring elements that are read as one, where Params say that they lie so.
    static constexpr int pack = greater(Weights::count, TileAlongK<T, tile_m, tile_k, threads>::count);

private:

    static constexpr int out_rows = fast == Axis::channel ? tile_m / 4 : tile_n / 4;
    static constexpr int out_columns = fast == Axis::channel ? tile_n : tile_m;

public:
    struct Shared {
        struct Buffer {
            alignas(16) float x[tile_k][tile_m + pad];
            alignas(16) float w[tile_k][tile_n + pad];
        };
        union {
            Buffer buffers[2];
            alignas(16) float out[out_rows][out_columns + pad];
        };
        Tap x_taps[2][tile_k], w_taps[2][tile_k];
        Pixel pixels[tile_m];
        Slot<State> states[Epilogue::channelwise ? tile_n : 1];
    };

    __device__ static void run(Params const& params, Shared& shared, int thread, std::uint32_t block) {
        ConvProblem<T> const conv = params.problem();
        auto const columns = static_cast<std::uint32_t>(divide_up(conv.group_k(), tile_n));
        int const group = static_cast<int>(block / columns % static_cast<std::uint32_t>(conv.groups()));
        int const first_m = static_cast<int>(block / columns / static_cast<std::uint32_t>(conv.groups())) * tile_m;
        int const first_n = static_cast<int>(block % columns) * tile_n;

        for (int i = thread; i < tile_m; i += threads) shared.pixels[i] = conv.pixel(first_m + i);
        for (int i = thread; i < tile_n && Epilogue::channelwise; i += threads)
            if (first_n + i < conv.group_k())
                shared.states[i].value() =
                    Epilogue::prepare(std::int64_t{group} * conv.group_k() + first_n + i, params.bound.epilogue);
        auto const fill_taps = [&](int step) {
            for (int i = thread; i < tile_k; i += threads) {
                auto const taps = conv.tap(step * tile_k + i, params.channels_fastest);
                shared.x_taps[step % 2][i] = taps.x;
                shared.w_taps[step % 2][i] = taps.w;
            }
        };
        __syncthreads();

        Inputs inputs(thread, conv.inputs(), params.inputs_packed,
                      [&](int i) { return conv.input_row(shared.pixels[i], group); });
        Weights weights(thread, conv.weights(), params.weights_packed,
                        [&](int i) { return conv.filter_row(first_n + i, group); });
        int const steps = static_cast<int>(divide_up(conv.gemm_k(), tile_k));
        int const lane_m = thread % 8 + thread / 32 % (tile_m / 64) * 8;
        int const lane_n = thread / 8 % 4 + thread / 32 / (tile_m / 64) * 4;
        float sums[8][8] = {};  // (pixels, channels): 4 lane + i and half a tile further, both ways
        for (int step = -2; step < steps; ++step) {
            int const next = step + 1;
            bool const loads = next >= 0 && next < steps;
            if (loads) {
                inputs.load(shared.x_taps[next % 2]);
                weights.load(shared.w_taps[next % 2]);
            }
            fill_taps(step + 2);
            if (step >= 0) multiply(shared.buffers[step % 2], lane_m, lane_n, sums);
            if (loads) {
                inputs.store(shared.buffers[next % 2].x);
                weights.store(shared.buffers[next % 2].w);
            }
            __syncthreads();
        }
        write(params, conv, shared, thread, lane_m, lane_n, group, first_n, sums);
    }

private:
    __device__ static void quad(float const* from, float* to) {
        auto const four = *reinterpret_cast<Pack<float, 4> const*>(from);
#pragma unroll
        for (int i = 0; i < 4; ++i) to[i] = four.values[i];
    }

    __device__ static void multiply(typename Shared::Buffer const& buffer, int lane_m, int lane_n, float (&sums)[8][8]) {
#pragma unroll 2
        for (int k = 0; k < tile_k; ++k) {
            float x[8], w[8];
            quad(&buffer.x[k][4 * lane_m], x);
            quad(&buffer.x[k][4 * lane_m + tile_m / 2], x + 4);
            quad(&buffer.w[k][4 * lane_n], w);
            quad(&buffer.w[k][4 * lane_n + tile_n / 2], w + 4);
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) sums[i][j] += x[i] * w[j];
        }
    }

    /// Four rounds: in each, every thread hands over two rows of its sums, and the block writes tile_m / 4 pixels of all
    /// channels, or tile_n / 4 channels of all pixels.
    __device__ static void write(Params const& params, ConvProblem<T> const& conv, Shared& shared, int thread, int lane_m,
                                 int lane_n, int group, int first_n, float const (&sums)[8][8]) {
        constexpr bool along_channels = fast == Axis::channel;
        int const lane_row = along_channels ? lane_m : lane_n, lane_column = along_channels ? lane_n : lane_m;
#pragma unroll
        for (int round = 0; round < 4; ++round) {
#pragma unroll
            for (int part = 0; part < 4; ++part) {
                int const row = 2 * round + part / 2;
                Pack<float, 4> four;
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    four.values[i] = along_channels ? sums[row][part % 2 * 4 + i] : sums[part % 2 * 4 + i][row];
                *reinterpret_cast<Pack<float, 4>*>(
                    &shared.out[2 * lane_row + part / 2][4 * lane_column + part % 2 * out_columns / 2]) = four;
            }
            __syncthreads();
#pragma unroll 1
            for (int element = thread; element < out_rows * out_columns; element += threads) {
                int const column = element % out_columns, line = element / out_columns;
                int const row = line / 2 * 4 + 2 * (round % 2) + line % 2 + round / 2 * (2 * out_rows);
                Pixel const at = shared.pixels[along_channels ? row : column];
                int const n = along_channels ? column : row;
                if (at.n < 0 || first_n + n >= conv.group_k()) continue;
                OutputCoord const place{at.n, std::int64_t{group} * conv.group_k() + first_n + n, at.p, at.q};
                conv.y(place.n, place.k, place.p, place.q) =
                    T(Epilogue::apply(shared.out[line][column], place,
                                      shared.states[Epilogue::channelwise ? n : 0].value(), params.bound.epilogue));
            }
            __syncthreads();
        }
    }
};

}  // namespace fusekit::hip
