// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_params.hpp"

namespace fusekit::hip {

/// Weight gradient dw = dy^T x over few pixels in SIMT arithmetic, for filters of one tap, channels-last x and dy of
/// any alignment: on 1x1 images a launch and one access of memory take most of the time. A CTA computes a tile of dw of
/// 64 channels of y x 64 channels of x; a thread has 4 x 4 of them. All loads of a k-tile are in flight at once.
template <class Plan, Element T, detail::OutputElement U>
class FewPixelsWeightGradient {
    static constexpr int tile = 64, pixels = 32, of_thread = 4;

public:
    using Params = WeightGradientParams<Plan, T, U>;
    using Architecture = arch::Sm80;
    static constexpr int threads = 256, blocks = 2;
    static constexpr bool waits_for_previous_kernel = true;

    struct Shared {
        Packet<float, 4> dy[pixels][tile / 4], x[pixels][tile / 4];
    };

    /// CTAs of a gradient with `channels` channels of y and `of_x` channels of x.
    FUSEKIT_HD static constexpr std::int64_t tiles(std::int64_t channels, std::int64_t of_x) {
        return detail::divide_up(channels, tile) * detail::divide_up(of_x, tile);
    }

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned number) {
        Index<4> const& dw = params.y.layout.shape;
        auto const filters = static_cast<int>(dw[0]), channels = static_cast<int>(dw[1]);
        int const across = static_cast<int>(detail::divide_up(channels, tile)), of_tile = static_cast<int>(number),
                  first_k = of_tile / across * tile, first_c = of_tile % across * tile, own = static_cast<int>(thread),
                  k = own / (tile / of_thread), c = own % (tile / of_thread);  // in packets of 4
        bool const sums_dy = params.bound.head.bias_gradient.given() && first_c == 0 && own < tile;
        wait_for_previous_kernel();
        T const *const dy = detail::typed<T>(params.bound.head.dy).data + first_k, *const x = params.x.data + first_c;
        float acc[of_thread][of_thread] = {}, bias = 0;
#pragma unroll 1
        for (int first = 0; first < params.maps.pixels; first += pixels) {
            int const count = (min)(params.maps.pixels - first, pixels);
            T of_dy[pixels * tile / threads], of_x[pixels * tile / threads];
            load(of_dy, dy, first, count, params.maps.dy_step, filters - first_k, own);
            load(of_x, x, first, count, params.maps.x_step, channels - first_c, own);
            if (first > 0) __syncthreads();  // all threads have read the k-tile before
            put(shared.dy, of_dy, own);
            put(shared.x, of_x, own);
            __syncthreads();
#pragma unroll 4
            for (int pixel = 0; pixel < pixels; ++pixel) {
                Packet<float, 4> const a = shared.dy[pixel][k], b = shared.x[pixel][c];
#pragma unroll
                for (int i = 0; i < of_thread; ++i)
#pragma unroll
                    for (int j = 0; j < of_thread; ++j) acc[i][j] += a.values[i] * b.values[j];
                if (sums_dy) bias += shared.dy[pixel][own / 4].values[own % 4];
            }
        }
        start_next_kernel();
        if (sums_dy && first_k + own < filters) params.store_bias(bias, first_k + own);
        int const from_c = first_c + c * of_thread;
        bool const whole = from_c + of_thread <= channels;
#pragma unroll
        for (int i = 0; i < of_thread; ++i) {
            int const row = first_k + k * of_thread + i;
            if (row >= filters) continue;
            if (OutputCoord const to{row, from_c, 0, 0}; whole && params.stores_packets(to)) {
                params.store(Packet<float, 4>{{acc[i][0], acc[i][1], acc[i][2], acc[i][3]}}, to);
            } else {
#pragma unroll
                for (int j = 0; j < of_thread; ++j)
                    if (from_c + j < channels) params.store(acc[i][j], {row, from_c + j, 0, 0});
            }
        }
    }

private:
    static constexpr int pixels_at_once = threads / tile;

    /// Loads a thread's elements of a k-tile of `count` pixels; consecutive threads have consecutive channels. Elements
    /// past the `channels` channels and past the pixels are zeros.
    template <int Count>
    __device__ static void load(T (&values)[Count], T const* from, int first, int count, int step, int channels,
                                int thread) {
        int const channel = thread % tile, pixel = thread / tile;
#pragma unroll
        for (int i = 0; i < Count; ++i) {
            int const at = pixel + i * pixels_at_once;
            values[i] = T(0.0f);
            if (channel < channels && at < count) values[i] = from[std::int64_t{first + at} * step + channel];
        }
    }
    template <int Count>
    __device__ static void put(Packet<float, 4> (&to)[pixels][tile / 4], T const (&values)[Count], int thread) {
        int const channel = thread % tile, pixel = thread / tile;
#pragma unroll
        for (int i = 0; i < Count; ++i)
            to[pixel + i * pixels_at_once][channel / 4].values[channel % 4] = static_cast<float>(values[i]);
    }
};

}  // namespace fusekit::hip
