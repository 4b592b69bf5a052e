// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/atom/wgmma.hpp"
#include "fusekit/backend/hip/collective/stage_ring.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient.hpp"

namespace fusekit::hip {

/// How the kernel below is cut: a block computes a tile of Rows channels of y and of Columns taps' channels of x, and
/// walks its pixels in steps of Pixels through so many stages; a warpgroup computes Products times 64 rows.
template <int Rows, int Columns, int Pixels, int Stages, int Products = 1, bool Down = (Columns > Rows)>
struct WeightTile {
    static constexpr bool down = Down;
    static constexpr int rows = Rows, columns = Columns, pixels = Pixels, stages = Stages, products = Products;
    static constexpr int warpgroups = Rows / (64 * Products);
    /// Whether registers have room for sums of sums.
    static constexpr bool promotes = Columns * Products <= 128 && warpgroups <= 2;
};

/// WeightGradient on sm_90a's matrix units, where channels are neighbours in x and in dy. Pixels are GemmK, and both
/// factors are MN-major, as they lie in memory. A tile has 128 channels of y, and two blocks of 64 columns: one tap and
/// 64 channels of x each. The block after the last tap's begins with a column of ones, for the bias' gradient.
///
/// One warp copies 128 pixels of each in bulk into a ring of stages. Two warpgroups multiply them, 64 channels of y
/// each, and add up the sums of `addends` pixels: the units round towards zero.
template <class Plan, class Schedule, Element T, detail::OutputElement U>
class BulkWeightGradient {
    static constexpr int block = 64, rows = Schedule::rows, columns = Schedule::columns, pixels = Schedule::pixels;
    static constexpr int products = Schedule::products, warpgroups = Schedule::warpgroups, addends = 1024;
    static constexpr int row_blocks = rows / block, column_blocks = columns / block, block_bytes = pixels * block * 2;
    using Atom = Wgmma<T, columns, ptx::Major::mn, ptx::Major::mn>;
    using Cursor = StageCursor<Schedule::stages>;
    using Fragment = typename Atom::Sums[products];
    static constexpr unsigned sums_barrier = 1;

    struct Stage {
        alignas(1024) T dy[row_blocks][pixels * block];
        alignas(1024) T x[column_blocks][pixels * block];
    };

public:
    using Params = WeightGradientParams<Plan, T, U>;
    using Architecture = typename Atom::Architecture;
    using Sums = SumTile<rows, columns>;
    static constexpr int threads = warpgroups * Atom::threads + 32, blocks = 1, step_pixels = pixels;
    static constexpr bool waits_for_previous_kernel = true, reads_argument_in_place = true;

    struct alignas(1024) DynamicShared {
        union {
            Stage stages[Schedule::stages];
            Sums sums;
        };
        StageBarriers<Schedule::stages, warpgroups> barriers;
    };

    /// Tiles of a gradient of these extents, with or without a column of ones.
    static std::int64_t tiles(Index<4> const& dw, bool has_ones) {
        return detail::divide_up(dw[0], rows) *
               detail::divide_up(dw[2] * dw[3] * detail::divide_up(dw[1], block) + has_ones, column_blocks);
    }

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned number) {
        auto const conv = params.problem();
        Tile const tile(params, conv, number);
        unsigned const warp = ptx::uniform(thread / 32), group = warp / 4;
        if (thread == 0) shared.barriers.init();
        put_ones(shared, tile, thread);
        ptx::fence_shared_memory();
        __syncthreads();
        wait_for_previous_kernel();
        if (group == warpgroups) {
            if (ptx::elect()) load(params, conv, shared, tile);
            ptx::sync_wave();  // barriers of a block and of a cluster are for whole warps
        } else {
            Fragment sums;
            multiply(shared, tile, sums, group, thread);
            ptx::named_barrier_sync(sums_barrier, warpgroups * Atom::threads);  // all have read the stages
            put_sums(shared.sums, sums, group, thread % Atom::threads);
        }
        start_next_kernel();
        RowRange const own =
            merge_parts<threads>(shared.sums, params.parts, tile.number, tile.part_group, tile.rank, thread);
        store(params, conv, shared.sums, tile, own, thread);
    }

private:
    /// What a block computes: a tile, and a part of the pixels.
    struct Tile {
        unsigned rank, number, part_group;
        int first_k, first_block, channel_blocks, blocks, begin, end, k;
        bool has_ones;

        template <class Problem>
        __device__ Tile(Params const& params, Problem const& conv, unsigned of) {
            channel_blocks = static_cast<int>(detail::divide_up(conv.group_c(), block));
            blocks = static_cast<int>(conv.taps()) * channel_blocks;
            k = conv.group_k();
            has_ones = params.bound.head.bias_gradient.given();
            auto const across = static_cast<unsigned>(detail::divide_up(blocks + has_ones, column_blocks)),
                       below = static_cast<unsigned>(detail::divide_up(k, rows)), all = across * below;
            rank = of % params.parts.cluster;
            number = of / params.parts.cluster % all;
            part_group = of / params.parts.cluster / all;
            first_block = static_cast<int>(Schedule::down ? number / below : number % across) * column_blocks;
            first_k = static_cast<int>(Schedule::down ? number % below : number / across) * rows;
            begin = static_cast<int>(part_group * params.parts.cluster + rank) * params.part_pixels;
            end = min(begin + params.part_pixels, static_cast<int>(conv.gemm_m()));
        }
        __device__ int steps() const {
            return begin < end ? static_cast<int>(detail::divide_up(end - begin, pixels)) : 0;
        }
        __device__ bool has_rows(unsigned of) const { return first_k + static_cast<int>(of) * block < k; }
    };

    /// Where a stage has no block of a tap it keeps a column of ones.
    __device__ static void put_ones(DynamicShared& shared, Tile const& tile, unsigned thread) {
        int const own = tile.blocks - tile.first_block;
        if (!tile.has_ones || own < 0 || own >= column_blocks) return;
        for (auto& stage : shared.stages)
            for (unsigned i = thread; i < pixels * block; i += threads) {
                unsigned const line = i / block, swizzled = line % 8 * 8;  // of the line's first 8
                stage.x[own][i] = T(i % block == swizzled ? 1.0f : 0.0f);
            }
    }

    /// The place in dy of a step's first pixel. It advances without divisions.
    struct StepPlace {
        int p, q, image, step_p, step_q, step_n, rows_of_y, columns_of_y;

        template <class Problem>
        __device__ StepPlace(Problem const& conv, int first)
            : rows_of_y(static_cast<int>(conv.y[2])), columns_of_y(static_cast<int>(conv.y[3])) {
            Pixel const at = conv.pixel(first), step = conv.pixel(pixels);
            p = at.p, q = at.q, image = at.n;
            step_p = step.p, step_q = step.q, step_n = step.n;
        }
        __device__ void advance() {
            q += step_q, p += step_p, image += step_n;
            if (q >= columns_of_y) q -= columns_of_y, ++p;
            if (p >= rows_of_y) p -= rows_of_y, ++image;
        }
    };

    template <class Problem>
    __device__ static void load(Params const& params, Problem const& conv, DynamicShared& shared, Tile const& tile) {
        auto const& filter = conv.filter;
        int const copied = max(min(tile.blocks - tile.first_block, column_blocks), 0);
        unsigned boxes = static_cast<unsigned>(copied);
        for (unsigned i = 0; i < row_blocks; ++i) boxes += tile.has_rows(i);
        int c[column_blocks];
        unsigned down[column_blocks], right[column_blocks];
#pragma unroll
        for (int i = 0; i < column_blocks; ++i) {
            int const tap = (tile.first_block + i) / tile.channel_blocks, r = tap / filter.size[1];
            c[i] = (tile.first_block + i) % tile.channel_blocks * block;
            down[i] = static_cast<unsigned>(r * filter.dilations[0]);
            right[i] = static_cast<unsigned>((tap - r * filter.size[1]) * filter.dilations[1]);
        }
        Cursor cursor;
        StepPlace at(conv, tile.begin);
#pragma unroll 1
        for (int m = tile.begin; m < tile.end; m += pixels, cursor.advance(), at.advance()) {
            Stage& stage = shared.stages[cursor.stage];
            auto const full = ptx::shared_address(&shared.barriers.full[cursor.stage]);
            ptx::barrier_wait(ptx::shared_address(&shared.barriers.empty[cursor.stage]), cursor.parity ^ 1);
            ptx::barrier_arrive_expect_bytes(full, boxes * block_bytes);
#pragma unroll
            for (unsigned i = 0; i < row_blocks; ++i)
                if (tile.has_rows(i))
                    ptx::load_tiled(ptx::shared_address(stage.dy[i]), &params.maps.dy, full,
                                    {tile.first_k + static_cast<int>(i) * block, m});
            int const h = at.p * filter.strides[0] - filter.pad_before[0],
                      w = at.q * filter.strides[1] - filter.pad_before[1];
#pragma unroll
            for (int i = 0; i < column_blocks; ++i) {
                if (i >= copied) continue;
                auto const to = ptx::shared_address(stage.x[i]);
                if (params.maps.has_windows)
                    ptx::load_im2col(to, &params.maps.x, full, {c[i], w, h, at.image}, right[i], down[i]);
                else ptx::load_tiled(to, &params.maps.x, full, {c[i], m});
            }
        }
    }

    /// The products of a warpgroup's channels of y; zeros where there are none. One stage's products are under way
    /// while the next stage is awaited.
    __device__ static void multiply(DynamicShared& shared, Tile const& tile, Fragment& total, unsigned group,
                                    unsigned thread) {
        constexpr int flush = addends / pixels;
        int const steps = tile.steps();
        Cursor cursor;
        auto const await = [&] {
            ptx::barrier_wait(ptx::shared_address(&shared.barriers.full[cursor.stage]), cursor.parity);
            unsigned const now = cursor.stage;
            cursor.advance();
            return now;
        };
        auto const release = [&](unsigned stage) {
            if (thread % Atom::threads == 0) ptx::barrier_arrive(ptx::shared_address(&shared.barriers.empty[stage]));
        };
        auto const add_up = [&](Fragment& sums, int count) {
            unsigned previous = 0;
#pragma unroll 1
            for (int step = 0; step < count; ++step) {
                unsigned const now = await();
                auto const dy =
                               Atom::mn_descriptor(ptx::shared_address(shared.stages[now].dy[group * products]), pixels),
                           x = Atom::mn_descriptor(ptx::shared_address(shared.stages[now].x), pixels);
#pragma unroll
                for (int product = 0; product < products; ++product) ptx::hold(sums[product]);
                ptx::fence_products();
#pragma unroll
                for (unsigned k = 0; k < pixels / Atom::k; ++k)
#pragma unroll
                    for (int product = 0; product < products; ++product)
                        Atom::multiply(sums[product],
                                       dy + Atom::rows_further(product * pixels) + k * Atom::mn_k_step,
                                       x + k * Atom::mn_k_step, step > 0 || k > 0);
                ptx::commit_products();
                ptx::wait_for_products<1>();
                if (step > 0) release(previous);
                previous = now;
            }
            ptx::wait_for_products<0>();
#pragma unroll
            for (int product = 0; product < products; ++product) ptx::hold(sums[product]);
            release(previous);
        };
        if (!tile.has_rows(group * products) || steps == 0) {
#pragma unroll 1
            for (int step = 0; step < steps; ++step) release(await());
#pragma unroll
            for (auto& of : total)
#pragma unroll
                for (float& each : of) each = 0;
        } else if constexpr (!Schedule::promotes) {
            add_up(total, steps);
        } else {
            add_up(total, min(flush, steps));
#pragma unroll 1
            for (int first = flush; first < steps; first += flush) {
                Fragment sums;
                add_up(sums, min(flush, steps - first));
#pragma unroll
                for (int product = 0; product < products; ++product)
#pragma unroll
                    for (int e = 0; e < Atom::sums_per_thread; ++e) total[product][e] += sums[product][e];
            }
        }
    }

    __device__ static void put_sums(Sums& to, Fragment const& sums, unsigned group, unsigned thread) {
        auto const own = static_cast<int>(thread);
#pragma unroll
        for (int product = 0; product < products; ++product)
#pragma unroll
            for (int e = 0; e < Atom::sums_per_thread; ++e) {
                int const column = Atom::column(own, e),
                          row = (static_cast<int>(group) * products + product) * block + Atom::row(own, e);
                to.rows[row][column / 4].values[column % 4] = sums[product][e];
            }
    }

    template <class Problem>
    __device__ static void store(Params const& params, Problem const& conv, Sums const& sums, Tile const& tile,
                                 RowRange const& own, unsigned thread) {
        for (unsigned i = own.begin * columns + thread; i < own.end * columns; i += threads) {
            auto const row = static_cast<int>(i / columns), column = static_cast<int>(i % columns);
            int const at = tile.first_block + column / block, tap = at / tile.channel_blocks,
                      c = at % tile.channel_blocks * block + column % block, k = tile.first_k + row;
            if (k >= tile.k) return;
            float const sum = sums.rows[row][column / 4].values[column % 4];
            if (at < tile.blocks && c < conv.group_c())
                params.store(sum, {k, c, tap / conv.window_columns(), tap % conv.window_columns()});
            else if (tile.has_ones && at == tile.blocks && column % block == 0) params.store_bias(sum, k);
        }
    }
};

}  // namespace fusekit::hip
