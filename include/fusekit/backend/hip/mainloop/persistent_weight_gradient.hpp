// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/wgmma.hpp"
#include "fusekit/backend/hip/copy/wgrad/pixel_boxes.hpp"
#include "fusekit/backend/hip/mainloop/warp_roles.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_params.hpp"
#include "fusekit/backend/hip/mainloop/weight_store.hpp"
#include "fusekit/backend/hip/mma/k_loop.hpp"
#include "fusekit/backend/hip/schedule/persistent_weights.hpp"

namespace fusekit::hip {

/// Weight gradient dw = dy^T x over few pixels on sm_90a's tensor cores, for filters of one tap and channels-last x and
/// dy: the bytes of dw take most of the time. GemmM is the channels of y, GemmN those of x, GemmK the pixels; both
/// operands are MN-major in memory. Persistent: CTA b computes tiles b, b + gridDim.x and so on; tiles of the same
/// channels of y are consecutive, so that the CTAs write whole rows of dw at once.
///
/// One producer warp TMA-loads the operands into a ring of SMEM stages. Each consumer warpgroup multiplies for its 64
/// channels of y and stores its sums from registers; warpgroups do not wait for each other. Sums
/// for the bias gradient are of the elements of dy in SMEM.
template <class Plan, class Schedule, Element T, detail::OutputElement U>
class PersistentWeightGradient : public TmaKernel {
    static constexpr int block = weight_block, columns = Schedule::columns, pixels = Schedule::pixels,
                         warpgroups = Schedule::warpgroups, column_blocks = columns / block;
    using Atom = Wgmma<T, columns, ptx::Major::mn, ptx::Major::mn>;
    using Pipeline = TmaPipeline<Schedule::stages, warpgroups>;
    using State = typename Pipeline::State;
    using Roles = WarpRoles<warpgroups, EqualRegisters>;

public:
    using Params = WeightGradientParams<Plan, T, U>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = warpgroups * Atom::threads + 32, blocks = Schedule::blocks;

    struct alignas(1024) DynamicShared {
        WeightStage<Schedule, T> stages[Schedule::stages];
        Pipeline pipeline;
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned number) {
        Roles const roles(thread);
        Tiles const tiles(params, number);
        begin(thread, [&] {
            shared.pipeline.init();
            ptx::prefetch_tensormap(&params.maps.dy);
            ptx::prefetch_tensormap(&params.maps.x);
        });
        if (roles.begin_producer()) {
            if (ptx::elect_sync()) load(params, shared, tiles);
        } else {
            multiply(params, shared, tiles, roles.group, thread % Atom::threads);
        }
        start_next_kernel();
    }

private:
    /// Tiles of a CTA, and k-tiles of each.
    struct Tiles {
        unsigned across, first, end;
        int steps;

        __device__ Tiles(Params const& params, unsigned number) : first(number) {
            Index<4> const& dw = params.y.layout.shape;
            across = static_cast<unsigned>(detail::divide_up(static_cast<int>(dw[1]), columns));
            end = across * static_cast<unsigned>(detail::divide_up(static_cast<int>(dw[0]), Schedule::rows));
            steps = static_cast<int>(detail::divide_up(params.maps.pixels, pixels));
        }
        __device__ int first_k(unsigned tile) const { return static_cast<int>(tile / across) * Schedule::rows; }
        __device__ int first_c(unsigned tile) const { return static_cast<int>(tile % across) * columns; }
    };

    /// Issues the TMA loads of the k-tiles of all tiles, in one thread. Boxes past the channels are zeros.
    __device__ static void load(Params const& params, DynamicShared& shared, Tiles const& tiles) {
        State state;
#pragma unroll 1
        for (unsigned tile = tiles.first; tile < tiles.end; tile += gridDim.x) {
            int const k = tiles.first_k(tile), c = tiles.first_c(tile);
#pragma unroll 1
            for (int step = 0; step < tiles.steps; ++step, state.advance()) {
                auto& stage = shared.stages[state.stage];
                auto const full = shared.pipeline.producer_acquire(state, sizeof stage.dy + sizeof stage.x);
#pragma unroll
                for (int i = 0; i < warpgroups; ++i)
                    ptx::tma_load(ptx::shared_address(stage.dy[i]), &params.maps.dy, full,
                                  {k + i * block, step * pixels});
#pragma unroll
                for (int i = 0; i < column_blocks; ++i)
                    ptx::tma_load(ptx::shared_address(stage.x[i]), &params.maps.x, full,
                                  {c + i * block, step * pixels});
            }
        }
    }

    __device__ static void multiply(Params const& params, DynamicShared& shared, Tiles const& tiles, unsigned group,
                                    unsigned thread) {
        bool const has_bias = params.bound.head.bias_gradient.given();
        State state;
#pragma unroll 1
        for (unsigned tile = tiles.first; tile < tiles.end; tile += gridDim.x) {
            int const k = tiles.first_k(tile) + static_cast<int>(group) * block, c = tiles.first_c(tile);
            bool const sums_dy = has_bias && c == 0;
            float bias = 0;
            typename Atom::Accumulators acc;
            mma::k_loop<Atom>(
                shared.pipeline, state, tiles.steps, thread, acc, [&](auto& sums, unsigned number, bool accumulate) {
                    auto const& stage = shared.stages[number];
                    // (64, PIXELS) and (COLUMNS, PIXELS), MN-major, swizzled
                    mma::OperandA<Atom> const dy{Atom::mn_descriptor(ptx::shared_address(stage.dy[group]), pixels)};
                    mma::OperandB<Atom> const x{Atom::mn_descriptor(ptx::shared_address(stage.x), pixels)};
                    if (sums_dy) {
                        bias += sum_of_pixels(stage.dy[group], thread);
                        ptx::bar_sync(1 + group, Atom::threads);  // before the stage is released
                    }
                    mma::gemm<Atom, pixels / Atom::k>(sums, dy, x, accumulate);
                });
            Index<4> const& dw = params.y.layout.shape;
            store_weights<Atom>(params, acc, k, static_cast<int>(dw[0]), thread, [&](int number) {
                return WeightBlock{c + number * block, 0, 0, static_cast<int>(dw[1])};
            });
            int const channel = k + static_cast<int>(thread);
            if (sums_dy && thread < unsigned{block} && channel < params.y.layout.shape[0])
                params.store_bias(bias, channel);
        }
    }

    /// Sum over a k-tile's pixels of channel `thread` of a block of dy, in swizzled lines of 64 channels.
    __device__ static float sum_of_pixels(T const* dy, unsigned thread) {
        float sum = 0;
        if (thread >= unsigned{block}) return sum;
#pragma unroll 4
        for (unsigned pixel = 0; pixel < pixels; ++pixel)
            sum += static_cast<float>(dy[pixel * block + (thread / 8 ^ pixel % 8) * 8 + thread % 8]);
        return sum;
    }
};

}  // namespace fusekit::hip
