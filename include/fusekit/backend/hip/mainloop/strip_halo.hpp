// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/wgmma.hpp"
#include "fusekit/backend/hip/copy/strip_halo.hpp"
#include "fusekit/backend/hip/epilogue/pool_stage.hpp"
#include "fusekit/backend/hip/mainloop/warp_roles.hpp"
#include "fusekit/backend/hip/mma/k_loop.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/statistics/grid_totals.hpp"

namespace fusekit::hip {

/// Convolution in tiles of 32 rows of y (HaloStripShape), for many channels and large images of 16-bit elements. TMA
/// loads the rows of x that the tile's windows read once for all taps, 64 channels at a time, and the filters tap by
/// tap. Eight pixels of a row are a core matrix of wgmma's operand, and the core matrices are a row of the tile of x
/// apart: all taps read it at an offset, and no accumulator is wasted between rows. Two cooperative warpgroups have 64
/// channels x 256 pixels each. The second one begins some k-tiles later, so that its MMAs run during the epilogue of
/// the first. With a Pool the rows of a tile's windows are two consecutive core matrices.
template <class Plan, class Schedule, Element T, detail::OutputElement U>
class StripHaloGemm : public TmaKernel {
    static constexpr int consumers = 2, x_stages = 2, rounds = Plan::pools ? 1 : 2;
    static constexpr int pooled = Plan::pools ? 2 : 1;  ///< rows, and columns, of pixels that are one of y
    static constexpr bool mn_major = has_transposed_conv<Plan>;
    using Atom = Wgmma<T, HaloStripShape::pixels, mn_major ? ptx::Major::mn : ptx::Major::k>;
    using Totals = GridTotals<Plan>;
    using Roles = WarpRoles<consumers, typename Totals::template Registers<consumers>>;
    using Results = typename StageOf<Plan, Atom, T, U, AlternatingRows>::Type;
    static constexpr int rows_of_round = HaloStripShape::rows / pooled / rounds,
                         row_of_y = HaloStripShape::columns / pooled * Results::row_bytes;
    static constexpr unsigned round_bytes = static_cast<unsigned>(rows_of_round * row_of_y);
    static_assert(Atom::row_bytes == HaloStripShape::row_bytes && Results::row_bytes == HaloStripShape::row_bytes);

    /// Numbers of the named barriers: one per warpgroup for its epilogue, then the one for `lag`.
    static constexpr unsigned epilogue_barrier = 1, lag_barrier = epilogue_barrier + consumers;

public:
    using Params = ConvParams<Plan, T, U>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;

    struct alignas(1024) DynamicShared {
        unsigned char operands[HaloStripShape::operand_bytes];
        unsigned char y[consumers][round_bytes];
        TmaPipeline<x_stages, consumers> x_pipeline;
        TmaPipeline<HaloStripShape::max_stages, consumers> filter_pipeline;

        /// Shared-memory addresses of the tile of x and of the filters of a stage.
        __device__ std::uint32_t x(HaloStrips const& strips, unsigned stage) const {
            return ptx::shared_address(operands) + stage * static_cast<unsigned>(strips.shape.bytes_of_x());
        }
        __device__ std::uint32_t filters(HaloStrips const& strips, int stage) const {
            return ptx::shared_address(operands) +
                   static_cast<unsigned>(strips.shape.filters_at() + stage * strips.shape.filter_bytes());
        }
    };
    static_assert(sizeof(DynamicShared) <= 227 * 1024);

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        Roles const roles(thread);
        begin(thread, [&] {
            shared.x_pipeline.init();
            shared.filter_pipeline.init();
        });
        if (roles.begin_producer()) {
            if (roles.warp == Roles::first_producer && ptx::elect_sync())
                load_strip_filters<mn_major>(params, conv, shared, block);
            else if (roles.warp == Roles::first_producer + 1 && ptx::elect_sync())
                load_halo_strips(params, conv, shared, block);
        } else {
            compute(params, conv, shared, thread % 128, roles.group, block);
        }
    }

private:
    using XState = typename TmaPipeline<x_stages, consumers>::State;

    template <class Problem>
    __device__ static void compute(Params const& params, Problem const& conv, DynamicShared& shared, unsigned thread,
                                   unsigned group, unsigned block) {
        HaloStrips const& strips = params.halo_strips;
        auto const staged = ptx::shared_address(shared.y[group]);
        XState x_state;
        DynamicPipelineState filter_state{strips.stages};
        int const of_group = static_cast<int>(group),
                  channels_before = strips.shape.splits_pixels ? 0 : of_group * Atom::m,
                  columns_before = strips.shape.splits_pixels ? of_group * HaloStripShape::columns : 0;
        if (group == 1) ptx::bar_sync(lag_barrier, consumers * Atom::threads);
        for (PersistentTile tile{block, gridDim.x, strips.tiles}; tile.exists(); tile.advance()) {
            StripTile const of_y(strips, tile.number);
            int const channel = of_y.channel + channels_before, column = of_y.column + columns_before;
            Results const epilogue(params.bound.epilogue, channel, conv.group_k(), thread);
            typename Atom::Accumulators acc;
            unsigned const lag = group == 0 && tile.number == block ? strips.shape.lag() : ~0u;
            bool const has_outputs = channel < conv.group_k() && column < conv.extent(conv.y, 3);
            multiply(shared, strips, x_state, filter_state, has_outputs ? conv.group_c() : 0, thread, channels_before,
                     columns_before, lag, acc);
            if (tile.is_last()) start_next_kernel();
#pragma unroll
            for (int round = 0; round < rounds; ++round) {
                int const first = round * rows_of_round;
                if (thread < rows_of_round) ptx::bulk_wait_group_read();
                ptx::bar_sync(epilogue_barrier + group, Atom::threads);
                if constexpr (Plan::pools) {
                    epilogue.stage(acc, staged, params.bound.epilogue, [&](int window, int of_y_channel, int tap) {
                        StripRow const row(strips, of_y.row + static_cast<unsigned>(window / 4 * pooled));
                        Index<4> const at{{row.image, of_y_channel, row.row / pooled, column / pooled + window % 4}},
                            &shape = params.y.layout.shape;
                        if constexpr (Plan::Pool::writes_taps)
                            if (at[0] < shape[0] && at[1] < shape[1] && row.row < strips.height && at[3] < shape[3])
                                Plan::Pool::store_tap(detail::get<Plan::Epilogue::size - 1>(params.bound.epilogue), at,
                                                      tap);
                    });
                } else {
                    epilogue.stage(
                        acc, staged - static_cast<std::uint32_t>(first * row_of_y), params.bound.epilogue, 0,
                        [](int) { return Pixel{}; }, BlockRange{first, rows_of_round});
                }
                ptx::fence_proxy_async();
                ptx::bar_sync(epilogue_barrier + group, Atom::threads);
                if (thread < rows_of_round) {
                    StripRow const row(
                        strips, of_y.row + static_cast<unsigned>(pooled) * (static_cast<unsigned>(first) + thread));
                    if (row.row < strips.height)
                        ptx::tma_store(&params.maps.y, staged + thread * row_of_y,
                                       {channel, column / pooled, row.row / pooled, row.image});
                    ptx::bulk_commit_group();
                }
            }
        }
        if (thread < rows_of_round) ptx::bulk_wait_group_read();
    }

    /// Returns the SMEM descriptor of the tile of x at `address`: groups of 8 lines are a row of the tile apart.
    __device__ static std::uint64_t descriptor(std::uint32_t address, int pitch) {
        return Atom::descriptor(address) + (static_cast<std::uint64_t>(pitch - 8) * (Atom::row_bytes >> 4) << 32);
    }

    /// Accumulates all taps of a tile into `acc`, for the filters and pixels of x from `first_filter` and
    /// `first_column` of the stages on; without channels, releases the stages only. Allows the other warpgroup to begin
    /// after k-tile `lag`.
    __device__ static void multiply(DynamicShared& shared, HaloStrips const& strips, XState& x_state,
                                    DynamicPipelineState& filter_state, int channels, unsigned thread, int first_filter,
                                    int first_column, unsigned lag, typename Atom::Accumulators& acc) {
        auto const at_filters = shared.filters(strips, 0);
        auto const filters = (mn_major ? Atom::mn_descriptor(at_filters) : Atom::descriptor(at_filters)) +
                             Atom::row_offset(first_filter);
        unsigned last_x = 0, step = 0;
        int last_filter = 0;
#pragma unroll 1
        for (int block = 0; block < strips.blocks; ++block) {
            shared.x_pipeline.consumer_wait(x_state);
            std::uint64_t x =
                descriptor(shared.x(strips, x_state.stage), strips.pitch) + Atom::row_offset(first_column);
            int const remaining = channels - block * HaloStripShape::channels;
            unsigned const k_blocks = remaining > 0 ? static_cast<unsigned>(divide_up_32(remaining, Atom::k)) : 0;
            int column = 0;
#pragma unroll 1
            for (int tap = 0; tap < strips.taps; ++tap) {
                shared.filter_pipeline.consumer_wait(filter_state);
                mma::OperandA<Atom> const a{filters + static_cast<unsigned>(filter_state.stage) *
                                                          Atom::row_offset(strips.shape.tile_filters())};
                mma::OperandB<Atom> const b{x};  // (PIXELS, C), swizzled: x at the tap's offset
                mma::gemm_first<Atom>(acc, a, b, step > 0, k_blocks);  // (64, PIXELS) += over C
                ptx::wgmma_wait<1>();
                if (thread == 0 && step > 0) {
                    shared.filter_pipeline.consumer_release(last_filter);
                    if (tap == 0) shared.x_pipeline.consumer_release(last_x);
                }
                if (step == lag) ptx::bar_arrive(lag_barrier, consumers * Atom::threads);
                last_filter = filter_state.stage;
                filter_state.advance();
                bool const ends_row = ++column == strips.shape.window_columns;
                x += Atom::row_offset(ends_row ? strips.pitch - column + 1 : 1);
                if (ends_row) column = 0;
                ++step;
            }
            last_x = x_state.stage;
            x_state.advance();
        }
        mma::wait(acc);
        if (lag != ~0u && step <= lag) ptx::bar_arrive(lag_barrier, consumers * Atom::threads);
        if (thread == 0) {
            shared.filter_pipeline.consumer_release(last_filter);
            shared.x_pipeline.consumer_release(last_x);
        }
    }
};

}  // namespace fusekit::hip
