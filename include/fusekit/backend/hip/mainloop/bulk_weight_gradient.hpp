// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/wgmma.hpp"
#include "fusekit/backend/hip/collective/split_k.hpp"
#include "fusekit/backend/hip/copy/wgrad/pixel_boxes.hpp"
#include "fusekit/backend/hip/mainloop/warp_roles.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_params.hpp"
#include "fusekit/backend/hip/mainloop/weight_store.hpp"
#include "fusekit/backend/hip/mma/k_loop.hpp"
#include "fusekit/backend/hip/pipeline/named_barrier.hpp"
#include "fusekit/backend/hip/schedule/bulk_weights.hpp"

namespace fusekit::hip {

/// Weight gradient dw = dy^T im2col(x) on sm_90a's tensor cores, for channels-last x and dy. GemmM is the channels of
/// y, GemmN the columns of dw (tap, channel of x), GemmK the pixels; both operands are MN-major in memory. For the bias
/// gradient, a block of 64 columns after the last tap's columns begins with a column of ones.
///
/// One producer warp TMA-loads the operands into a ring of SMEM stages. Consumer warpgroups run the MMAs, each for its
/// own channels of y. The tensor cores round toward zero: with Schedule::promotes, the sums over every `addends` pixels
/// are promoted to a second accumulator in FP32. After the k-loop, the threads of all warps reduce the split-K sums.
template <class Plan, class Schedule, Element T, detail::OutputElement U>
class BulkWeightGradient : public TmaKernel {
    static constexpr int block = weight_block, rows = Schedule::rows, columns = Schedule::columns,
                         pixels = Schedule::pixels, products = Schedule::products, warpgroups = Schedule::warpgroups;
    static constexpr int addends = 1024;
    static constexpr bool has_groups = Plan::Head::collapsed.group_count > 1,
                          may_store_registers = has_weight_store<U> && !has_groups;
    using Atom = Wgmma<T, columns, ptx::Major::mn, ptx::Major::mn>;
    using Pipeline = TmaPipeline<Schedule::stages, warpgroups>;
    using Tile = WeightTile<Schedule>;
    using Fragment = typename Atom::Accumulators[products];
    static constexpr int consumers = warpgroups * Atom::threads;
    static constexpr unsigned sums_barrier = 1;
    static constexpr bool moves_registers = Schedule::moves_registers;
    static_assert(!moves_registers || warpgroups == 2 || warpgroups == 3);
    using Budget = RegisterBudget<warpgroups == 2 ? 40 : 32, warpgroups == 2 ? 232 : 160, 1, warpgroups == 2 ? 2 : 3>;
    using Roles = WarpRoles<warpgroups, std::conditional_t<moves_registers, Budget, EqualRegisters>>;
    /// Barrier of the threads that reduce split-K sums: with moved registers, a producer has too few for it.
    using SumsBarrier =
        std::conditional_t<moves_registers, NamedBarrier<sums_barrier, unsigned{consumers}>, BlockBarrier>;

public:
    using Params = WeightGradientParams<Plan, T, U>;
    using Architecture = typename Atom::Architecture;
    using Accumulators = AccumulatorTile<rows, columns, 2, Schedule::sequences>;
    static constexpr int threads = consumers + (moves_registers ? 128 : 32), blocks = 1;

    struct alignas(1024) DynamicShared {
        union {
            WeightStage<Schedule, T> stages[Schedule::stages];
            Accumulators acc;
        };
        Pipeline pipeline;
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned number) {
        auto const conv = params.problem();
        Tile const tile(params, conv, number);
        Roles const roles(thread);
        auto const prepare = [&] {
            put_ones(shared, tile, thread);
            ptx::fence_proxy_async();
        };
        begin(
            thread,
            [&] {
                shared.pipeline.init();
                ptx::prefetch_tensormap(&params.maps.dy);
                ptx::prefetch_tensormap(&params.maps.x);
            },
            prepare);
        if (roles.begin_producer()) {
            if (roles.warp == Roles::first_producer && ptx::elect_sync())
                load_weight_operands(params, conv, tile, shared.stages, shared.pipeline);
            ptx::bar_warp_sync();  // barriers of a CTA and of a cluster need converged warps
            if constexpr (moves_registers) {
                start_next_kernel();
                if (params.split_k.cluster > 1) attend_merge();
                return;
            }
        } else {
            Fragment acc;
            multiply(shared, tile, acc, roles.group, thread);
            if constexpr (may_store_registers)
                if (stores_registers(params)) {
#pragma unroll
                    for (int product = 0; product < products; ++product)
                        store_weight_tile<Atom>(params, conv, tile, acc[product],
                                                static_cast<int>(roles.group) * products + product,
                                                thread % Atom::threads);
                    start_next_kernel();
                    return;
                }
            ptx::bar_sync(sums_barrier, consumers);  // all consumers have read the stages, which shared.acc overwrites
            if (Params::has_phases && params.maps.phases > 1)
                put_shifted(shared.acc, acc, tile, roles.group, thread % Atom::threads);
            else put_accumulators(shared.acc, acc, roles.group, thread % Atom::threads);
        }
        start_next_kernel();
        if constexpr (may_store_registers)
            if (stores_registers(params)) return;
        RowRange const own = reduce_split_k<consumers>(shared.acc, params.split_k, tile.number, tile.split_group,
                                                       tile.rank, thread, SumsBarrier(), tile.tiles);
        store(params, conv, shared.acc, tile, own, thread);
        finish_split_k(params.split_k);
    }

private:
    /// True if the CTA has the tile's sums alone and stores them from registers.
    __device__ static bool stores_registers(Params const& params) {
        return params.maps.stores_vectors && params.split_k.count() == 1 && params.maps.phases == 1;
    }

    /// Stores a column of ones to every stage, in the block of 64 columns after the last tap's columns, which TMA never
    /// loads.
    __device__ static void put_ones(DynamicShared& shared, Tile const& tile, unsigned thread) {
        int const own = tile.blocks - tile.first_block;
        if (!tile.has_ones || own < 0 || own >= Tile::column_blocks) return;
        for (auto& stage : shared.stages)
            for (unsigned i = thread; i < pixels * block; i += threads) {
                // index, after the swizzle, of the block's column 0 in this 64-element line
                unsigned const line = i / block, swizzled = line % 8 * 8;
                stage.x[own][i] = T(i % block == swizzled ? 1.0f : 0.0f);
            }
    }

    /// Accumulates, over the CTA's pixels, the products of dy at the warpgroup's channels of y and x at the tile's
    /// columns of dw. If the warpgroup's channels are out of bounds of y, only releases the stages and zeroes the
    /// accumulators.
    __device__ static void multiply(DynamicShared& shared, Tile const& tile, Fragment& total, unsigned group,
                                    unsigned thread) {
        constexpr int flush = addends / pixels;
        int const steps = tile.steps();
        typename Pipeline::State state;
        auto const gemm = [&](Fragment& acc, unsigned number, bool accumulate) {
            auto const& stage = shared.stages[number];
            // (PRODUCTS, 64, PIXELS) and (COLUMNS, PIXELS), MN-major, swizzled
            mma::OperandA<Atom, Atom::row_offset(pixels)> const dy{
                Atom::mn_descriptor(ptx::shared_address(stage.dy[group * products]), pixels)};
            mma::OperandB<Atom> const x{Atom::mn_descriptor(ptx::shared_address(stage.x), pixels)};
            mma::gemm<Atom, pixels / Atom::k>(acc, dy, x, accumulate);  // (PRODUCTS, 64, COLUMNS) += over PIXELS
        };
        auto const add_up = [&](Fragment& acc, int count) {
            mma::k_loop<Atom>(shared.pipeline, state, count, thread % Atom::threads, acc, gemm);
        };
        if (!tile.has_rows(group * products) || steps == 0) {
#pragma unroll 1
            for (int step = 0; step < steps; ++step, state.advance()) {
                shared.pipeline.consumer_wait(state);
                if (thread % Atom::threads == 0) shared.pipeline.consumer_release(state.stage);
            }
            mma::clear(total);
        } else if constexpr (!Schedule::promotes) {
            add_up(total, steps);
        } else {
            add_up(total, (min)(flush, steps));
#pragma unroll 1
            for (int first = flush; first < steps; first += flush) {
                Fragment acc;
                add_up(acc, (min)(flush, steps - first));
                mma::promote(total, acc);
            }
        }
    }

    __device__ static void put_accumulators(Accumulators& to, Fragment const& acc, unsigned group, unsigned thread) {
        auto const own = static_cast<int>(thread);
#pragma unroll
        for (int product = 0; product < products; ++product)
#pragma unroll
            for (int e = 0; e < Atom::acc_per_thread; e += 2) {
                int const column = Atom::column(own, e),
                          row = (static_cast<int>(group) * products + product) * block + Atom::row(own, e);
                float* const to_pair = &to.rows[row][column / 4].values[column % 4];
                *reinterpret_cast<Packet<float, 2>*>(to_pair) = {acc[product][e], acc[product][e + 1]};
            }
    }

    /// put_accumulators() of a tile whose TMA boxes begin before their blocks' channels: to the rows and columns of the
    /// channels within their blocks. The last elements of a block's 64 rows and columns are not written.
    __device__ static void put_shifted(Accumulators& to, Fragment const& acc, Tile const& tile, unsigned group,
                                       unsigned thread) {
        auto const own = static_cast<int>(thread);
#pragma unroll
        for (int product = 0; product < products; ++product) {
            int const row_block = static_cast<int>(group) * products + product, up = tile.row_shift(row_block);
#pragma unroll
            for (int block_of = 0; block_of < Tile::column_blocks; ++block_of) {
                int const left = tile.column_shift(block_of);
#pragma unroll
                for (int i = 0; i < block / 2; ++i) {
                    int const e = block_of * (block / 2) + i, row = Atom::row(own, e) - up,
                              column = Atom::column(own, e) % block - left;
                    if (row < 0 || column < 0) continue;
                    int const at = block_of * block + column;
                    to.rows[row_block * block + row][at / 4].values[at % 4] = acc[product][e];
                }
            }
        }
    }

    /// Stores to dw the rows (channels of y) whose split-K sums this CTA has computed. A thread stores four adjacent
    /// columns of each row: channels of x at one tap, fewer at the last channels; or the single column of the bias
    /// gradient.
    template <class Problem>
    __device__ static void store(Params const& params, Problem const& conv, Accumulators const& acc, Tile const& tile,
                                 RowRange const& own, unsigned thread) {
        constexpr unsigned row_packets = Accumulators::row_packets, rows_apart = consumers / row_packets;
        if (thread >= rows_apart * row_packets) return;
        auto const filters = static_cast<unsigned>(tile.dy_block == block ? tile.end_k - tile.first_k : Schedule::rows);
        unsigned const packet = thread % row_packets;
        unsigned begin = own.begin, end = own.end < filters ? own.end : filters;
        auto const column = static_cast<int>(packet) * 4;
        int const number = tile.first_block + column / block, tap = number / tile.channel_blocks,
                  r = tap / conv.window_columns(), s = tap - r * conv.window_columns();
        int c = number % tile.channel_blocks * tile.x_block + column % block;
        int const in_block = Params::has_phases ? tile.x_block - column % block : block;
        if constexpr (has_groups)
            if (conv.group_c() < block && number < tile.blocks) {
                // the rows of the column's group; the other rows' sums are of channels of two groups
                int const channels = conv.group_c(), group = c / channels;
                auto const first = static_cast<unsigned>(group * channels),
                           past = static_cast<unsigned>(first + channels);
                begin = begin > first ? begin : first, end = end < past ? end : past;
                c -= group * channels;
            }
        int const count = number < tile.blocks ? (min)((max)((min)(conv.group_c() - c, in_block), 0), 4) : 0;
        auto const each_row = [&](auto const& f) {
#pragma unroll 4
            for (unsigned row = begin + thread / row_packets; row < end; row += rows_apart) {
                int k = tile.first_k + static_cast<int>(row);
                if constexpr (Params::has_phases) {
                    auto const of_block = static_cast<int>(row % block);
                    k -= static_cast<int>(row / block) * (block - tile.dy_block);
                    if (of_block >= tile.dy_block || k >= tile.end_k) continue;
                }
                f(k, acc.rows[row][packet]);
            }
        };
        if (count == 4 && params.stores_packets({0, c, r, s})) {
            each_row([&](int k, Packet<float, 4> const& of_row) { params.store(of_row, {k, c, r, s}); });
        } else if (count > 0) {
#pragma unroll 1
            for (int i = 0; i < count; ++i)
                each_row(
                    [&](int k, Packet<float, 4> const& of_row) { params.store(of_row.values[i], {k, c + i, r, s}); });
        } else if (tile.has_ones && number == tile.blocks && column % block == 0) {
            each_row([&](int k, Packet<float, 4> const& of_row) { params.store_bias(of_row.values[0], k); });
        }
    }
};

}  // namespace fusekit::hip
