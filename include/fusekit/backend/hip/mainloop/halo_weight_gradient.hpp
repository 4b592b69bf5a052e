// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/atom/wgmma.hpp"
#include "fusekit/backend/hip/collective/stage_ring.hpp"
#include "fusekit/backend/hip/collective/weight_halo.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient.hpp"
#include "fusekit/backend/hip/schedule.hpp"

namespace fusekit::hip {

/// BulkWeightGradient of a filter of several taps, stride and dilation 1, that reads x once for all taps. A tile has 64
/// channels of y and, for every tap, 64 channels of x. A step is a few rows of an image: one bulk copy brings those of
/// dy, with zeros where a row of x is longer, and one those of x, with the halo of their windows. A tap's products
/// begin at another pixel of the same x. A warpgroup has the taps of a row of the filter.
///
/// What lies between the rows' ends is multiplied by zero: an infinity there gives NaN.
template <class Plan, class Schedule, Element T, detail::OutputElement U>
class HaloWeightGradient {
    static constexpr int block = 64, warpgroups = Plan::Head::collapsed.size[0],
                         row_taps = Plan::Head::collapsed.size[1], columns = warpgroups * row_taps * block;
    using Atom = Wgmma<T, block, ptx::Major::mn, ptx::Major::mn>;
    using Shape = WeightHalo<Schedule::pixels>;
    using Fragment = typename Atom::Sums[row_taps];
    static constexpr int consumers = warpgroups * Atom::threads;
    static constexpr unsigned sums_barrier = 1;

public:
    using Params = WeightGradientParams<Plan, T, U>;
    using Architecture = typename Atom::Architecture;
    /// The column after the last tap's is the gradient of the bias.
    using Sums = SumTile<block, columns + 4>;
    static constexpr int threads = consumers + 32, blocks = 1;
    static constexpr bool waits_for_previous_kernel = true, reads_argument_in_place = true;

    struct alignas(1024) DynamicShared {
        union {
            unsigned char stages[Schedule::stage_bytes];
            Sums sums;
        };
        StageBarriers<Schedule::most_stages, warpgroups> barriers;
        float bias[4][block];
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned number) {
        auto const conv = params.problem();
        Tile const tile(params, conv, number);
        unsigned const warp = ptx::uniform(thread / 32), group = warp / 4;
        if (thread == 0) shared.barriers.init();
        for (unsigned i = thread; i < Schedule::stage_bytes / sizeof(Packet<float, 4>); i += threads)
            reinterpret_cast<Packet<float, 4>*>(shared.stages)[i] = {};  // bulk copies leave lines out
        ptx::fence_shared_memory();
        __syncthreads();
        wait_for_previous_kernel();
        if (group == warpgroups) {
            if (ptx::elect()) load(params, conv, shared, tile);
            ptx::sync_wave();  // barriers of a block and of a cluster are for whole warps
        } else {
            Fragment sums;
            float bias[2] = {};
            multiply(shared, tile, sums, bias, group, thread % Atom::threads);
            ptx::named_barrier_sync(sums_barrier, consumers);  // all have read the stages
            put(shared, sums, bias, group, thread % Atom::threads);
        }
        start_next_kernel();
        __syncthreads();
        if (thread < block) {
            float sum = 0;
            for (auto const& of_warp : shared.bias) sum += of_warp[thread];
            shared.sums.rows[thread][columns / 4] = {{sum, 0, 0, 0}};
        }
        RowRange const own =
            merge_parts<consumers>(shared.sums, params.parts, tile.number, tile.part_group, tile.rank, thread);
        store(params, conv, shared.sums, tile, own, thread);
    }

private:
    /// What a block computes: a tile, and a part of the steps.
    struct Tile {
        Shape shape;
        unsigned rank, number, part_group;
        int first_k, first_c, begin, end, stages;

        template <class Problem>
        __device__ Tile(Params const& params, Problem const& conv, unsigned of)
            : shape(conv.extent(conv.y, 2), conv.extent(conv.y, 3), conv.filter) {
            auto const across = static_cast<unsigned>(detail::divide_up(conv.group_c(), block)),
                       tiles = across * static_cast<unsigned>(detail::divide_up(conv.group_k(), block));
            rank = of % params.parts.cluster;
            number = of / params.parts.cluster % tiles;
            part_group = of / params.parts.cluster / tiles;
            first_c = static_cast<int>(number % across) * block;
            first_k = static_cast<int>(number / across) * block;
            begin = static_cast<int>(part_group * params.parts.cluster + rank) * params.part_pixels;
            end = min(begin + params.part_pixels, shape.steps * conv.extent(conv.y, 0));
            stages = shape.stages(Schedule::stage_bytes, Schedule::most_stages);
        }
    };

    /// Where a step is in the ring; the number of stages is the shape's.
    struct Cursor {
        int stage = 0;
        unsigned parity = 0;

        __device__ void advance(int stages) {
            if (++stage == stages) stage = 0, parity ^= 1;
        }
    };

    template <class Problem>
    __device__ static void load(Params const& params, Problem const& conv, DynamicShared& shared, Tile const& tile) {
        Cursor cursor;
        for (int step = tile.begin; step < tile.end; ++step, cursor.advance(tile.stages)) {
            auto const full = ptx::shared_address(&shared.barriers.full[cursor.stage]),
                       stage = ptx::shared_address(shared.stages + cursor.stage * tile.shape.bytes());
            int const image = step / tile.shape.steps, row = step % tile.shape.steps * tile.shape.rows;
            ptx::barrier_wait(ptx::shared_address(&shared.barriers.empty[cursor.stage]), cursor.parity ^ 1);
            ptx::barrier_arrive_expect_bytes(full,
                                             static_cast<unsigned>(tile.shape.bytes_of_y() + tile.shape.bytes_of_x()));
            ptx::load_tiled(stage, &params.maps.dy, full, {tile.first_k, 0, row, image});
            ptx::load_tiled(stage + tile.shape.dy_bytes(), &params.maps.x, full,
                            {tile.first_c, -conv.filter.pad_before[1], row - conv.filter.pad_before[0], image});
        }
    }

    /// The products of a warpgroup's taps; zeros where there are no steps. One warpgroup adds up dy, while its products
    /// are under way.
    __device__ static void multiply(DynamicShared& shared, Tile const& tile, Fragment& sums, float (&bias)[2],
                                    unsigned group, unsigned thread) {
        auto const release = [&](int stage) {
            if (thread == 0) ptx::barrier_arrive(ptx::shared_address(&shared.barriers.empty[stage]));
        };
        if (tile.begin >= tile.end) {
#pragma unroll
            for (auto& of_tap : sums)
#pragma unroll
                for (float& each : of_tap) each = 0;
            return;
        }
        int previous = 0;
        Cursor cursor;
#pragma unroll 1
        for (int step = tile.begin; step < tile.end; ++step) {
            ptx::barrier_wait(ptx::shared_address(&shared.barriers.full[cursor.stage]), cursor.parity);
            unsigned char const* const stage = shared.stages + cursor.stage * tile.shape.bytes();
            auto dy = Atom::mn_descriptor(ptx::shared_address(stage)),
                 x = Atom::mn_descriptor(ptx::shared_address(stage + tile.shape.dy_bytes())) +
                     Atom::rows_further(static_cast<int>(group) * tile.shape.pitch);
#pragma unroll
            for (auto& of_tap : sums) ptx::hold(of_tap);
            ptx::fence_products();
#pragma unroll 1
            for (int k = 0; k < tile.shape.lines() / Atom::k; ++k, dy += Atom::mn_k_step, x += Atom::mn_k_step)
#pragma unroll
                for (int tap = 0; tap < row_taps; ++tap)
                    Atom::multiply(sums[tap], dy, x + Atom::rows_further(tap), step > tile.begin || k > 0);
            ptx::commit_products();
            if (group == 0) add_up(reinterpret_cast<T const*>(stage), tile.shape.lines(), bias, thread);
            ptx::wait_for_products<1>();
            if (step > tile.begin) release(previous);
            previous = cursor.stage;
            cursor.advance(tile.stages);
        }
        ptx::wait_for_products<0>();
#pragma unroll
        for (auto& of_tap : sums) ptx::hold(of_tap);
        release(previous);
    }

    /// Adds up two channels of every fourth pixel of a step of dy.
    __device__ static void add_up(T const* dy, int lines, float (&bias)[2], unsigned thread) {
        unsigned const channel = thread % 32 * 2;
#pragma unroll 4
        for (unsigned line = thread / 32; line < static_cast<unsigned>(lines); line += 4) {
            T const* const two = dy + line * block + (channel ^ line % 8 * 8);
            bias[0] += float(two[0]), bias[1] += float(two[1]);
        }
    }

    __device__ static void put(DynamicShared& shared, Fragment const& sums, float const (&bias)[2], unsigned group,
                               unsigned thread) {
        auto const own = static_cast<int>(thread);
#pragma unroll
        for (int tap = 0; tap < row_taps; ++tap)
#pragma unroll
            for (int e = 0; e < Atom::sums_per_thread; ++e) {
                int const column = (static_cast<int>(group) * row_taps + tap) * block + Atom::column(own, e);
                shared.sums.rows[Atom::row(own, e)][column / 4].values[column % 4] = sums[tap][e];
            }
        if (group == 0)
            for (unsigned i = 0; i < 2; ++i) shared.bias[thread / 32][thread % 32 * 2 + i] = bias[i];
    }

    template <class Problem>
    __device__ static void store(Params const& params, Problem const& conv, Sums const& sums, Tile const& tile,
                                 RowRange const& own, unsigned thread) {
        struct Place {
            int c, r, s;
        };
        auto const place = [&](int column) {
            int const tap = column / block;
            return Place{tile.first_c + column % block, tap / row_taps, tap % row_taps};
        };
        store_sums<consumers>(sums, own, columns, thread, place, [&](float sum, int row, Place const& at) {
            int const k = tile.first_k + row;
            if (k < conv.group_k() && at.c < conv.group_c()) params.store(sum, {k, at.c, at.r, at.s});
        });
        if (!params.bound.head.bias_gradient.given() || tile.first_c != 0) return;
        for (unsigned row = own.begin + thread; row < own.end && thread < consumers; row += consumers)
            if (int const k = tile.first_k + static_cast<int>(row); k < conv.group_k())
                params.store_bias(sums.rows[row][columns / 4].values[0], k);
    }
};

}  // namespace fusekit::hip
