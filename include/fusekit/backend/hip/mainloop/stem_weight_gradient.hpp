// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/wgmma.hpp"
#include "fusekit/backend/hip/collective/split_k.hpp"
#include "fusekit/backend/hip/copy/wgrad/stem_windows.hpp"
#include "fusekit/backend/hip/mainloop/warp_roles.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_params.hpp"
#include "fusekit/backend/hip/mma/gemm.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"

namespace fusekit::hip {

/// Weight gradient of a first layer on sm_90a's tensor cores, dw^T = im2col(x)^T dy, for NHWC x of few channels. GemmM
/// is the columns of dw (r, s, c) and, for the bias gradient, a column of ones; GemmN the channels of y; GemmK the
/// pixels. One producer thread TMA-loads k-tiles (StemGradientTiles); each of three consumer warpgroups reads the
/// windows of its 64 columns from SMEM into the MMA's register operand, so that no im2col matrix is stored. Sums over
/// `addends` pixels are promoted to FP32. After the k-loop, the CTAs of a tile reduce the split-K sums.
template <class Plan, Element T, detail::OutputElement U>
class StemWeightGradient : public TmaKernel {
    static constexpr int warpgroups = 3, rows = 64 * warpgroups, filters = 64, stage_count = 6, addends = 1024;
    using Shape = StemGradientShape;
    using Atom = Wgmma<T, filters, ptx::Major::k, ptx::Major::mn>;
    using Bits = std::uint16_t;
    using Step = StemStep<WeightGradientParams<Plan, T, U>>;
    using Column = StemColumn<WeightGradientParams<Plan, T, U>>;
    static constexpr int consumers = warpgroups * Atom::threads, k_blocks = Shape::most_pixels / Atom::k,
                         ones = StemColumn<WeightGradientParams<Plan, T, U>>::ones;
    static constexpr unsigned sums_barrier = 1;

public:
    using Params = WeightGradientParams<Plan, T, U>;
    using Architecture = typename Atom::Architecture;
    using Accumulators = AccumulatorTile<rows, filters, 2>;
    static constexpr int threads = consumers + 32, blocks = 1, tile_rows = rows, tile_filters = filters;

    struct Stage {
        alignas(1024) T dy[Shape::most_pixels * filters];
        alignas(128) Bits x[ones + 8];
    };
    struct alignas(1024) DynamicShared {
        union {
            Stage stages[stage_count];
            Accumulators acc;
        };
        TmaPipeline<stage_count, consumers / 32> pipeline;  ///< each consumer warp releases a stage
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        Tile const tile(params, block);
        WarpRoles<warpgroups, EqualRegisters> const roles(thread);
        begin(
            thread,
            [&] {
                shared.pipeline.init();
                ptx::prefetch_tensormap(&params.stem.dy);
                ptx::prefetch_tensormap(&params.stem.x);
            },
            [&] {
                if (thread < static_cast<unsigned>(stage_count))
                    shared.stages[thread].x[ones] = config::bit_cast<Bits>(T(1.0f));
            });
        if (roles.begin_producer()) {
            if (ptx::elect_sync()) load(params, shared, tile);
            ptx::bar_warp_sync();  // barriers of a CTA and of a cluster need converged warps
        } else {
            typename Atom::Accumulators acc;
            multiply(params, shared, tile, acc, roles.group, thread % Atom::threads);
            ptx::bar_sync(sums_barrier, consumers);  // all consumers have read the stages, which shared.acc overwrites
            put_accumulators(shared.acc, acc, roles.group, thread % Atom::threads);
            if (divides_steps(params)) add_groups(shared.acc, thread);
        }
        start_next_kernel();
        RowRange const own =
            reduce_split_k<consumers>(shared.acc, params.split_k, tile.number, tile.split_group, tile.rank, thread);
        store(params, shared.acc, tile, own, thread);
        finish_split_k(params.split_k);
    }

private:
    /// A CTA's tile of dw^T and its range [begin, end) of k-tiles (split-K).
    struct Tile {
        unsigned rank, number, split_group;
        int first_column, first_k, begin, end;

        __device__ Tile(Params const& params, unsigned of) {
            auto const down = static_cast<unsigned>(divide_up_32(static_cast<int>(params.columns()), rows)),
                       across =
                           static_cast<unsigned>(divide_up_32(static_cast<int>(params.y.layout.shape[0]), filters)),
                       of_group = of / params.split_k.cluster;
            rank = of % params.split_k.cluster;
            number = of_group % (down * across);
            split_group = of_group / (down * across);
            first_column = static_cast<int>(number % down) * rows;
            first_k = static_cast<int>(number / down) * filters;
            begin = static_cast<int>(split_group * params.split_k.cluster + rank) * params.stem.split_steps;
            end = (min)(begin + params.stem.split_steps, params.stem.steps);
        }
    };

    /// Issues the TMA loads of the CTA's k-tiles, in one thread.
    __device__ static void load(Params const& params, DynamicShared& shared, Tile const& tile) {
        StemGradientTiles const& tiles = params.stem;
        auto const filter = Plan::Head::geometry(params.bound.head);
        int const taps = filter.size[0], channels = static_cast<int>(params.y.layout.shape[1]),
                  step = filter.strides[1] * channels, before = filter.pad_before[1] * channels + tiles.first;
        auto const bytes =
            static_cast<unsigned>(tiles.pixels * filters * static_cast<int>(sizeof(T)) + taps * tiles.words * 4);
        PipelineState<stage_count> state;
#pragma unroll 1
        for (int i = tile.begin; i < tile.end; ++i, state.advance()) {
            Step const at(params, filter, i);
            Stage& stage = shared.stages[state.stage];
            auto const full = shared.pipeline.producer_acquire(state, bytes);
            ptx::tma_load(ptx::shared_address(stage.dy), &tiles.dy, full, {tile.first_k, at.q, at.p, at.n});
            if (!tiles.single_rows) {
                ptx::tma_load(ptx::shared_address(stage.x), &tiles.x, full,
                              {(at.q * step - before) / 2, at.p * filter.strides[0] - filter.pad_before[0], at.n, 0});
                continue;
            }
#pragma unroll 1
            for (int r = 0; r < taps; ++r) {
                auto const first = static_cast<int>(at.first + static_cast<unsigned>(r) * Step::row_pitch(params));
                ptx::tma_load(ptx::shared_address(stage.x + r * tiles.words * 2), &tiles.x, full,
                              {(first & ~Shape::most_shift) / 2, 0, 0, 0});
            }
        }
    }

    /// True if dw has at most 64 columns, so that the warpgroups divide a CTA's k-tiles instead of its columns.
    __device__ static bool divides_steps(Params const& params) { return params.columns() <= 64; }

    /// Adds the sums of all warpgroups to those of the first.
    __device__ static void add_groups(Accumulators& acc, unsigned thread) {
        constexpr unsigned row_packets = Accumulators::row_packets;
        ptx::bar_sync(sums_barrier, consumers);
        for (unsigned i = thread; i < 64 * row_packets; i += consumers) {
            Packet<float, 4>& sum = acc.rows[i / row_packets][i % row_packets];
#pragma unroll
            for (unsigned group = 1; group < warpgroups; ++group) {
                Packet<float, 4> const& other = acc.rows[group * 64 + i / row_packets][i % row_packets];
#pragma unroll
                for (int j = 0; j < 4; ++j) sum.values[j] += other.values[j];
            }
        }
    }

    /// Accumulates the products of the warpgroup's 64 columns, over the CTA's k-tiles, or over every third one if
    /// divides_steps(). For other k-tiles, and without columns, a warpgroup only releases the stages.
    __device__ static void multiply(Params const& params, DynamicShared& shared, Tile const& tile,
                                    typename Atom::Accumulators& total, unsigned group, unsigned thread) {
        StemGradientTiles const& tiles = params.stem;
        bool const divides = divides_steps(params);
        int const first = tile.first_column + (divides ? 0 : static_cast<int>(group) * 64),
                  in_thread = static_cast<int>(thread), flush = addends / tiles.pixels,
                  of_dy = static_cast<int>(params.bound.head.dy.layout.shape[3]);
        bool const has_columns = first < static_cast<int>(params.columns());
        auto const filter = Plan::Head::geometry(params.bound.head);
        Column column(params, filter, first + Atom::row(in_thread, 0)),
            below(params, filter, first + Atom::row(in_thread, 2));
        int const own = in_thread % 4 * 2;
        auto const count = static_cast<unsigned>(tiles.pixels / Atom::k);
        typename Atom::Accumulators acc;
        mma::clear(total);
        int added = 0, turn = divides ? static_cast<int>(group) : 0;  // k-tiles before the warpgroup's next one
        PipelineState<stage_count> state;
#pragma unroll 1
        for (int i = tile.begin; i < tile.end; ++i, state.advance()) {
            Stage const& stage = shared.stages[state.stage];
            shared.pipeline.consumer_wait(state);
            if (has_columns && turn == 0) {
                mma::RegisterOperand windows[k_blocks];  // (64, PIXELS)
                auto const load = [&](auto const& pair) {
#pragma unroll
                    for (int k = 0; k < k_blocks; ++k) {
                        int const pixel = k * Atom::k + own;
                        if (k >= static_cast<int>(count)) break;
                        windows[k].words[0] = pair(column, pixel);
                        windows[k].words[1] = pair(below, pixel);
                        windows[k].words[2] = pair(column, pixel + 8);
                        windows[k].words[3] = pair(below, pixel + 8);
                    }
                };
                if (tiles.single_rows) {
                    Step const at(params, filter, i);
                    column.move(params, filter, at), below.move(params, filter, at);
                    load([&](Column const& of, int pixel) { return of.masked_pair(stage.x, pixel); });
                } else {
                    int const q = static_cast<int>(tiles.by_across.remainder(static_cast<unsigned>(i))) * tiles.pixels,
                              end = (min)(of_dy - q, tiles.pixels);
                    load([&](Column const& of, int pixel) { return of.pair(stage.x, pixel, end); });
                }
                auto const a = [&](unsigned k, unsigned) -> mma::RegisterOperand const& { return windows[k]; };
                mma::OperandB<Atom> const dy{
                    Atom::mn_descriptor(ptx::shared_address(stage.dy), tiles.pixels)};  // (64, PIXELS), MN-major
                mma::gemm_first<Atom>(acc, a, dy, added > 0, count);  // (64, 64) += over PIXELS
                mma::wait(acc);
                if (++added == flush) mma::promote(total, acc), added = 0;
            }
            turn = turn > 0 ? turn - 1 : divides ? warpgroups - 1 : 0;
            if (thread % 32 == 0) shared.pipeline.consumer_release(state.stage);
        }
        if (added > 0) mma::promote(total, acc);
    }

    __device__ static void put_accumulators(Accumulators& to, typename Atom::Accumulators const& acc, unsigned group,
                                            unsigned thread) {
        auto const own = static_cast<int>(thread);
#pragma unroll
        for (int e = 0; e < Atom::acc_per_thread; e += 2) {
            int const filter = Atom::column(own, e), row = static_cast<int>(group) * 64 + Atom::row(own, e);
            float* const to_pair = &to.rows[row][filter / 4].values[filter % 4];
            *reinterpret_cast<Packet<float, 2>*>(to_pair) = {acc[e], acc[e + 1]};
        }
    }

    /// Stores to dw the rows (columns of dw) whose split-K sums this CTA has computed, four filters of a thread.
    __device__ static void store(Params const& params, Accumulators const& acc, Tile const& tile, RowRange const& own,
                                 unsigned thread) {
        constexpr unsigned row_packets = Accumulators::row_packets;
        if (thread >= static_cast<unsigned>(consumers)) return;
        unsigned const packet = thread % row_packets;
        int const weights = static_cast<int>(params.weights()), columns = static_cast<int>(params.columns()),
                  filters_of_y = static_cast<int>(params.y.layout.shape[0]),
                  channels = static_cast<int>(params.y.layout.shape[1]);
#pragma unroll 1
        for (unsigned row = own.begin + thread / row_packets; row < own.end; row += consumers / row_packets) {
            int const column = tile.first_column + static_cast<int>(row);
            if (column >= columns) break;
            auto const r = static_cast<int>(params.stem.by_line.divide(static_cast<unsigned>(column)));
            int const in_line = column - r * static_cast<int>(params.stem.by_line.value()), s = in_line / channels,
                      c = in_line - s * channels;
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                int const k = tile.first_k + static_cast<int>(packet) * 4 + i;
                if (k >= filters_of_y) continue;
                if (column < weights) params.store(acc.rows[row][packet].values[i], {k, c, r, s});
                else params.store_bias(acc.rows[row][packet].values[i], k);
            }
        }
    }
};

}  // namespace fusekit::hip
