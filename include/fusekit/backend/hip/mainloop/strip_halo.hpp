// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/wgmma.hpp"
#include "fusekit/backend/hip/copy/strip_halo.hpp"
#include "fusekit/backend/hip/copy/strip_prologue.hpp"
#include "fusekit/backend/hip/epilogue/pool_stage.hpp"
#include "fusekit/backend/hip/mainloop/warp_roles.hpp"
#include "fusekit/backend/hip/mma/k_loop.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/statistics/grid_totals.hpp"
#include "fusekit/backend/hip/statistics/total_channels.hpp"

namespace fusekit::hip {

/// Convolution in tiles of 32 rows of y (HaloStripShape), for many channels and large images of 16-bit elements. TMA
/// loads the rows of x that the tile's windows read once for all taps, 64 channels at a time, and the filters tap by
/// tap. Eight pixels of a row are a core matrix of wgmma's operand, and the core matrices are a row of the tile of x
/// apart: all taps read it at an offset, and no accumulator is wasted between rows. Two cooperative warpgroups have 64
/// channels x 256 pixels each. The second one begins some k-tiles later, so that its MMAs run during the epilogue of
/// the first. With a Pool the rows of a tile's windows are two consecutive core matrices. With a prologue three
/// producer warps apply it to the tiles of x; with statistics they merge these at the end.
template <class Plan, class Schedule, Element T, detail::OutputElement U>
class StripHaloGemm : public TmaKernel {
    static constexpr int consumers = 2, x_stages = 2, rounds = Plan::pools ? 1 : 2;
    static constexpr int pooled = Plan::pools ? 2 : 1;  ///< rows, and columns, of pixels that are one of y
    static constexpr bool mn_major = has_transposed_conv<Plan>;
    using Atom = Wgmma<T, HaloStripShape::pixels, mn_major ? ptx::Major::mn : ptx::Major::k>;
    static constexpr bool doubles = StripHaloEntry::doubles<Plan>;
    static constexpr bool shares_memory = StripHaloEntry::shares_memory<Plan>, loads = strips_read_in_bulk<Plan, T, U>;
    using Prologue = StripPrologue<typename Plan::Prologue, T, x_stages, StripHaloEntry::max_prologue_channels>;
    using Totals = GridTotals<Plan>;
    using Registers =
        std::conditional_t<Plan::has_prologue, RegisterBudget<72, 216>, typename Totals::template Registers<consumers>>;
    using Roles = WarpRoles<consumers, Registers>;
    using Results =
        std::conditional_t<Plan::pools, PoolStage<Plan, Atom, U, AlternatingRows>, TmaStage<Plan, Atom, T, U, loads>>;
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
        unsigned char operands[shares_memory ? HaloStripShape::shared_operand_bytes : HaloStripShape::operand_bytes];
        unsigned char y[consumers][round_bytes];
        TmaPipeline<x_stages, consumers> x_pipeline;
        TmaPipeline<HaloStripShape::max_stages, consumers> filter_pipeline;
        TmaStages<consumers> read_full;
        typename Prologue::Shared prologue;
        typename Totals::Shared totals;

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
            if constexpr (shares_memory) {
                shared.read_full.init();
                shared.prologue.init();
                if constexpr (Plan::totals_tiles) Totals::init(shared.totals, consumers);
                ptx::fence_mbarrier_init();
            }
        });
        if (roles.begin_producer()) {
            if (roles.warp == Roles::first_producer && ptx::elect_sync())
                load_strip_filters<mn_major>(params, conv, shared, block);
            else if (roles.warp != Roles::first_producer)
                produce_x(params, conv, shared, thread - (Roles::first_producer + 1) * 32, block);
        } else {
            compute(params, conv, shared, thread % 128, roles.group, block);
        }
    }

private:
    using XState = typename TmaPipeline<x_stages, consumers>::State;

    /// Work of three producer warps: loads x, with the prologue; then merges the statistics.
    template <class Problem>
    __device__ static void produce_x(Params const& params, Problem const& conv, DynamicShared& shared, unsigned thread,
                                     unsigned block) {
        if constexpr (Plan::has_prologue) Prologue::run(params, conv, shared, shared.prologue, thread, block);
        else if (ptx::warp_uniform(thread / 32) == 0 && ptx::elect_sync())
            load_halo_strips(params, conv, shared, block);
        if constexpr (Plan::totals_tiles) {
            ptx::bar_warp_sync();
            merge_totals(params, shared, thread, block);
        }
    }
    /// The CTA's entry for statistics of its channels, and the number of entries of each channel in the grid: a CTA has
    /// tiles of the same channels, because gridDim.x is a multiple of `channel_tiles`.
    __device__ static unsigned totals_entry(HaloStrips const& strips, unsigned block, unsigned group) {
        unsigned const of_pixels = strips.shape.pixel_groups();
        return strips.channel_tiles.divide(block) * of_pixels + (strips.shape.splits_pixels ? group : 0);
    }
    __device__ static void merge_totals(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        HaloStrips const& strips = params.halo_strips;
        unsigned const entries = strips.channel_tiles.divide(gridDim.x) * strips.shape.pixel_groups();
        Totals::merge_shares(params, shared.totals, entries, thread, [&](auto const& clear) {
            StripTile const of_y(strips, block);
            for (unsigned group = 0; group < strips.shape.pixel_groups(); ++group)
                clear(totals_entry(strips, block, group), static_cast<unsigned>(of_y.channel),
                      static_cast<unsigned>(strips.shape.tile_filters()));
        });
    }
    /// Mask (ThreadPixels) of a thread's pixels in bounds of y: `rows` rows and `columns` columns of the tile's 32 x 8.
    /// Each thread has two columns, from `first` on.
    __device__ static std::uint64_t pixels_in_bounds(int rows, int columns, int first) {
        constexpr std::uint64_t even = 0x5555555555555555;
        std::uint64_t const of_columns = (first < columns ? even : 0) | (first + 1 < columns ? even << 1 : 0);
        return rows >= HaloStripShape::rows ? of_columns : of_columns & ((std::uint64_t{1} << 2 * rows) - 1);
    }

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
        [[maybe_unused]] TotalChannels<Plan, Atom> totals;
        if (group == 1) ptx::bar_sync(lag_barrier, consumers * Atom::threads);
        for (PersistentTile tile{block, gridDim.x, strips.tiles}; tile.exists(); tile.advance()) {
            StripTile const of_y(strips, tile.number);
            int const channel = of_y.channel + channels_before, column = of_y.column + columns_before;
            Results const epilogue(params.bound.epilogue, channel, conv.group_k(), thread);
            typename Atom::Accumulators acc[1];
            // with a prologue both warpgroups release a tile of x early, for the prologue of the next but one
            unsigned const lag = group == 0 && tile.number == block ? Plan::has_prologue ? 0 : strips.shape.lag() : ~0u;
            if constexpr (loads) load_read(params, shared, of_y.row, channel, column, staged, thread, group);
            bool const has_outputs = channel < conv.group_k() && column < strips.width;
            multiply(shared, strips, x_state, filter_state, has_outputs ? conv.group_c() : 0, thread, channels_before,
                     of_y.phase_row * strips.pitch + of_y.phase_column + columns_before, lag, acc[0]);
            if (tile.is_last()) start_next_kernel();
#pragma unroll
            for (int round = 0; round < rounds; ++round) {
                int const first = round * rows_of_round;
                if constexpr (loads) {
                    if (round > 0)
                        load_read(params, shared, of_y.row + static_cast<unsigned>(first), channel, column, staged,
                                  thread, group);
                    shared.read_full.consumer_wait(group, static_cast<unsigned>(round) % 2);
                } else {
                    if (thread < rows_of_round) ptx::bulk_wait_group_read();
                    ptx::bar_sync(epilogue_barrier + group, Atom::threads);
                }
                if constexpr (Plan::pools) {
                    epilogue.stage(acc[0], staged, params.bound.epilogue, [&](int window, int of_y_channel, int tap) {
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
                        acc[0], staged - static_cast<std::uint32_t>(first * row_of_y), params.bound.epilogue, 0,
                        [](int) { return Pixel{}; }, BlockRange{first, rows_of_round});
                }
                ptx::fence_proxy_async();
                ptx::bar_sync(epilogue_barrier + group, Atom::threads);
                if (thread < rows_of_round) {
                    StripRow const row(
                        strips, of_y.row + static_cast<unsigned>(pooled) * (static_cast<unsigned>(first) + thread));
                    auto const from = staged + thread * row_of_y;
                    if constexpr (doubles) {
                        if (row.row < strips.height && row.image == 0)  // the map has one image
                            ptx::tma_store(&params.maps.y, from,
                                           {channel, of_y.phase_column, column, of_y.phase_row, row.row});
                    } else {
                        if (row.row < strips.height)
                            ptx::tma_store(&params.maps.y, from,
                                           {channel, column / pooled, row.row / pooled, row.image});
                    }
                    ptx::bulk_commit_group();
                }
            }
            if constexpr (Plan::totals_tiles) {
                std::uint64_t const counted =
                    pixels_in_bounds(strips.height - static_cast<int>(of_y.row), strips.width - column,
                                     Atom::column(static_cast<int>(thread), 0));
                if (has_outputs) totals.add(acc, counted, thread);
                if (tile.is_last()) {
                    Totals::before_put(shared.totals);
                    totals.put(Totals::view(params), totals_entry(strips, block, group), channel, thread);
                }
            }
        }
        if (thread < rows_of_round) ptx::bulk_wait_group_read();
        if constexpr (Plan::totals_tiles)
            if (thread == 0) Totals::after_put(shared.totals);
    }

    /// Loads 16 rows of the tensor of y's shape that the epilogue reads, from row `row` (StripRow) on, to `staged`,
    /// when the stores from there have been read. All threads of the warpgroup call it.
    __device__ static void load_read(Params const& params, DynamicShared& shared, unsigned row, int channel, int column,
                                     std::uint32_t staged, unsigned thread, unsigned group) {
        HaloStrips const& strips = params.halo_strips;
        if (thread < rows_of_round) ptx::bulk_wait_group_read();
        ptx::bar_sync(epilogue_barrier + group, Atom::threads);
        if (thread != 0) return;
        unsigned const first = row, end = first + rows_of_round;
        unsigned rows = 0;
        for (row = first; row < end; ++row) rows += is_row_of_y(params, StripRow(strips, row));
        auto const full = shared.read_full.producer_expect_tx(group, rows * static_cast<unsigned>(row_of_y));
#pragma unroll 1
        for (row = first; row < end; ++row) {
            StripRow const at(strips, row);
            if (is_row_of_y(params, at))
                ptx::tma_load(staged + (row - first) * row_of_y, &params.read.map, full,
                              {channel, column, at.row, at.image});
        }
    }
    __device__ static bool is_row_of_y(Params const& params, StripRow const& at) {
        return at.row < params.halo_strips.height && at.image < static_cast<int>(params.y.layout.shape[0]);
    }

    /// Returns the SMEM descriptor of the tile of x at `address`: groups of 8 lines are a row of the tile apart.
    __device__ static std::uint64_t descriptor(std::uint32_t address, int pitch) {
        return Atom::descriptor(address) + (static_cast<std::uint64_t>(pitch - 8) * (Atom::row_bytes >> 4) << 32);
    }

    /// Accumulates all taps of a tile into `acc`, for the filters and pixels of x from `first_filter` and
    /// pixel `first_pixel` of the stages on; without channels, releases the stages only. Allows the other warpgroup to
    /// begin after k-tile `lag`.
    __device__ static void multiply(DynamicShared& shared, HaloStrips const& strips, XState& x_state,
                                    DynamicPipelineState& filter_state, int channels, unsigned thread, int first_filter,
                                    int first_pixel, unsigned lag, typename Atom::Accumulators& acc) {
        auto const at_filters = shared.filters(strips, 0);
        auto const filters = (mn_major ? Atom::mn_descriptor(at_filters) : Atom::descriptor(at_filters)) +
                             Atom::row_offset(first_filter);
        unsigned last_x = 0, step = 0;
        int last_filter = 0;
#pragma unroll 1
        for (int block = 0; block < strips.blocks; ++block) {
            if constexpr (Plan::has_prologue) shared.prologue.applied.consumer_wait(x_state);
            else shared.x_pipeline.consumer_wait(x_state);
            std::uint64_t x = descriptor(shared.x(strips, x_state.stage), strips.pitch) + Atom::row_offset(first_pixel);
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
                bool const ends_row = ++column == strips.shape.tap_columns();
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
