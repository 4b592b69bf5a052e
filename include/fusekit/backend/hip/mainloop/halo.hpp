// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/atom/wgmma.hpp"
#include "fusekit/backend/hip/collective/grid_totals.hpp"
#include "fusekit/backend/hip/collective/halo_stages.hpp"
#include "fusekit/backend/hip/collective/stage_ring.hpp"
#include "fusekit/backend/hip/collective/store_channels.hpp"
#include "fusekit/backend/hip/collective/total_channels.hpp"
#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// Convolution of few channels on sm_90a's matrix units, or a transposed one: 64 of x and of y at most, stride and
/// dilation 1. Filters stay in shared memory. One thread copies rows of x, with the halo that their windows reach into,
/// once; warpgroups take turns at the tiles and read each tile once for each tap. Channels are the rows of the product,
/// pixels its columns. Results lie down where the halo was and go to y by one bulk copy, which leaves out what y does
/// not have.
template <class Plan, class Schedule, Element T, detail::OutputElement U>
class HaloGemm {
    static constexpr int pixels = Schedule::pixels, consumers = Schedule::consumers;
    static constexpr int most_taps = Schedule::most_taps, most_stages = Schedule::most_stages;
    static constexpr int row_bytes = bulk_row_bytes(Schedule::channels, sizeof(T));
    static constexpr int result_bytes = Schedule::channels * static_cast<int>(sizeof(U));
    static constexpr bool mn_major = has_transposed_conv<Plan>;
    template <int columns>
    using ProductOf = Wgmma<T, columns, mn_major ? ptx::Major::mn : ptx::Major::k, ptx::Major::k, row_bytes>;
    using Atom = ProductOf<pixels>;
    using Shape = HaloShape<pixels, row_bytes, result_bytes>;
    using Totals = GridTotals<Plan>;
    using Results = StoreChannels<Plan, Atom, T, U>;
    /// Whether a thread asks which of its pixels y has, where results do not ask for their places.
    static constexpr bool asks_for_pixels =
        Plan::totals_tiles || (Plan::Epilogue::maxima > 0 && !Results::reads_places);
    static constexpr int filter_bytes = Atom::m * Atom::row_bytes;  ///< of one tap

    /// Whether one warpgroup multiplies at a time. Where digits are cut off, one adds while the other multiplies.
    static constexpr bool takes_turns = !Atom::cuts_off;
    /// Named barriers: of a warpgroup in its epilogue, and of turns to multiply.
    static constexpr unsigned epilogue_barrier = 1, turn_barrier = epilogue_barrier + consumers;

public:
    using Params = ConvParams<Plan, T, U>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;
    static constexpr bool waits_for_previous_kernel = true, reads_argument_in_place = true;

    struct alignas(1024) DynamicShared {
        unsigned char filters[most_taps * filter_bytes];
        unsigned char halos[Schedule::halo_bytes];
        StageBarriers<most_stages, 1> barriers;
        std::uint64_t filters_full, read_full[consumers];
        typename Totals::Shared totals;
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        Tiles const tiles(conv);
        unsigned const warp = ptx::warp_uniform(thread / 32), group = warp / 4;
        if (thread == 0) {
            ptx::mbarrier_init(ptx::shared_address(&shared.filters_full), 1);
            for (auto& full : shared.read_full) ptx::mbarrier_init(ptx::shared_address(&full), 1);
            shared.barriers.init();
            if constexpr (Plan::totals_tiles) Totals::init(shared.totals, consumers);
        }
        __syncthreads();
        wait_for_previous_kernel();
        if (group == consumers) {
            ptx::setmaxnreg_dec<Totals::few_registers>();
            if constexpr (Plan::totals_tiles)
                if (warp != 4 * consumers)
                    return merge_totals(params, shared, tiles, thread - (4 * consumers + 1) * 32, block);
            if (warp == 4 * consumers && ptx::elect_sync()) load(params, conv, shared, tiles, block);
        } else {
            ptx::setmaxnreg_inc<Totals::many_registers>();
            compute(params, conv, shared, tiles, thread % 128, group, block);
        }
    }

private:
    /// Tiles are rows of an image.
    struct Tiles {
        Shape shape;
        unsigned of_image, all;
        int stages;

        template <class Problem>
        __device__ explicit Tiles(Problem const& conv)
            : shape(conv.extent(conv.y, 2), conv.extent(conv.y, 3), detail::window_filter(conv.filter)),
              of_image(static_cast<unsigned>(divide_up_32(conv.extent(conv.y, 2), shape.rows))),
              all(of_image * static_cast<unsigned>(conv.extent(conv.y, 0))),
              stages(shape.stages(Schedule::halo_bytes, most_stages)) {}

        __device__ int image(unsigned tile) const { return static_cast<int>(tile / of_image); }
        __device__ int first_row(unsigned tile) const { return static_cast<int>(tile % of_image) * shape.rows; }
    };

    /// One thread's copies.
    template <class Problem>
    __device__ static void load(Params const& params, Problem const& conv, DynamicShared& shared, Tiles const& tiles,
                                unsigned block) {
        auto const filters_full = ptx::shared_address(&shared.filters_full);
        auto const filter = detail::window_filter(conv.filter);
        int const columns = filter.size[1], taps = filter.size[0] * columns;
        ptx::mbarrier_arrive_expect_tx(filters_full, static_cast<unsigned>(taps * filter_bytes));
#pragma unroll 1
        for (int tap = 0; tap < taps; ++tap) {
            auto const to = ptx::shared_address(shared.filters + tap * filter_bytes);
            int const of_w = mn_major ? taps - 1 - tap : tap;  // taps in reverse
            if constexpr (pairs_filters<U>) ptx::tma_load(to, &params.maps.w, filters_full, {0, of_w, 0, 0, 0});
            else ptx::tma_load(to, &params.maps.w, filters_full, {0, of_w % columns, of_w / columns, 0});
        }
        int stage = 0;
        unsigned parity = 1;
        for (unsigned tile = block; tile < tiles.all; tile += gridDim.x) {
            auto const full = ptx::shared_address(&shared.barriers.full[stage]);
            ptx::mbarrier_wait(ptx::shared_address(&shared.barriers.empty[stage]), parity);
            ptx::mbarrier_arrive_expect_tx(full, static_cast<unsigned>(tiles.shape.bytes_of_x()));
            ptx::tma_load(ptx::shared_address(shared.halos + stage * tiles.shape.stage_bytes()), &params.maps.x, full,
                          {0, -filter.pad_before[1], tiles.first_row(tile) - filter.pad_before[0], tiles.image(tile)});
            if (++stage == tiles.stages) stage = 0, parity ^= 1;
        }
    }

    template <class Problem>
    __device__ static void compute(Params const& params, Problem const& conv, DynamicShared& shared, Tiles const& tiles,
                                   unsigned thread, unsigned group, unsigned block) {
        Results const epilogue(params.bound.epilogue, 0, conv.group_k(), thread);
        TotalChannels<Plan, Atom> totals;
        OwnPixels<Atom> const own(thread);
        [[maybe_unused]] std::uint64_t in_rows = 0;
        if constexpr (asks_for_pixels) in_rows = own.in_rows(tiles.shape, conv.extent(conv.y, 3));
        ptx::mbarrier_wait(ptx::shared_address(&shared.filters_full), 0);
        auto const at_filters = ptx::shared_address(shared.filters);
        auto const filters = mn_major ? Atom::mn_descriptor(at_filters) : Atom::descriptor(at_filters);
        auto const stages = static_cast<unsigned>(tiles.stages);
        unsigned const step = gridDim.x;
        if (takes_turns && group == 1) ptx::bar_arrive(turn_barrier, 2 * Atom::threads);  // the other begins
        for (unsigned i = group, tile = block + group * step; tile < tiles.all;
             i += consumers, tile += consumers * step) {
            unsigned const stage = i % stages;
            auto const halo =
                ptx::shared_address(shared.halos) + stage * static_cast<unsigned>(tiles.shape.stage_bytes());
            typename Atom::Sums sums[1];
            if constexpr (takes_turns) ptx::bar_sync(turn_barrier + group, 2 * Atom::threads);
            ptx::mbarrier_wait(ptx::shared_address(&shared.barriers.full[stage]), i / stages & 1);
            multiply(tiles.shape, {filters, Atom::descriptor(halo)}, sums[0], [&] {
                if constexpr (takes_turns) ptx::bar_arrive(turn_barrier + (group ^ 1), 2 * Atom::threads);
            });
            bool const is_last = tile + consumers * step >= tiles.all;
            if (is_last) start_next_kernel();
            ptx::bar_sync(epilogue_barrier + group, Atom::threads);  // all have read the halo
            int const n = tiles.image(tile), first = tiles.first_row(tile);
            if constexpr (reads_in_bulk<Plan, T, U>) {
                auto const full = ptx::shared_address(&shared.read_full[group]);
                if (thread == 0) {
                    ptx::mbarrier_arrive_expect_tx(full, static_cast<unsigned>(tiles.shape.bytes_of_y()));
                    ptx::tma_load(halo, &params.read.map, full, {0, 0, first, n});
                }
                ptx::mbarrier_wait(full, i / consumers % 2);
            }
            int const left = conv.extent(conv.y, 2) - first, rows = left < tiles.shape.rows ? left : tiles.shape.rows;
            [[maybe_unused]] std::uint64_t const of_y = in_rows & own.before(rows * tiles.shape.pitch);
            epilogue.stage(sums[0], halo, params.bound.epilogue, 0, [&](int pixel) {
                if constexpr (!Results::reads_places) return Pixel{OwnPixels<Atom>::has(of_y, pixel) ? n : -1, 0, 0};
                int const p = pixel / tiles.shape.pitch, q = pixel % tiles.shape.pitch;
                bool const inside = p < rows && q < conv.extent(conv.y, 3);
                return Pixel{inside ? n : -1, first + p, q};
            });
            ptx::fence_proxy_async();
            ptx::bar_sync(epilogue_barrier + group, Atom::threads);
            auto const send = [&] {
                if (thread != 0) return;
                ptx::tma_store(&params.maps.y, halo, {0, 0, first, n});
                ptx::bulk_commit_group();
            };
            if constexpr (Plan::totals_tiles) {
                if (!is_last) send();
                totals.add(sums, of_y, thread);
                if (is_last) {
                    Totals::before_put(shared.totals);
                    totals.put(Totals::view(params), block + group * step, 0, thread);
                    send();  // while all totals are merged
                }
            } else {
                send();
            }
            if (thread == 0) {
                ptx::bulk_wait_group_read();
                ptx::mbarrier_arrive(ptx::shared_address(&shared.barriers.empty[stage]));
            }
        }
        if constexpr (Plan::totals_tiles)
            if (thread == 0) Totals::after_put(shared.totals);
    }

    __device__ static void merge_totals(Params const& params, DynamicShared& shared, Tiles const& tiles,
                                        unsigned thread, unsigned block) {
        unsigned const all = consumers * gridDim.x;
        Totals::merge_shares(params, shared.totals, all < tiles.all ? all : tiles.all, thread, [&](auto const& clear) {
            for (unsigned tile = block; tile < all && tile < tiles.all; tile += gridDim.x) clear(tile, 0, Atom::m);
        });
    }

    /// Descriptors of a tap's filters, and of a tile as the tap sees it.
    struct Tap {
        std::uint64_t filters, x;
        int column = 0;

        __device__ void advance(Shape const& shape) {
            filters += Atom::rows_further(Atom::m);
            bool const ends_row = ++column == shape.window_columns;
            x += Atom::rows_further(ends_row ? shape.pitch - column + 1 : 1);
            if (ends_row) column = 0;
        }
    };

    /// The products of all taps. Where an instruction cuts off digits, sums of two taps begin at zero and are added to
    /// the tile's while the other warpgroup multiplies. Registers have room for those of half of the pixels. Calls
    /// when_all_begun() once the last products are under way.
    template <class WhenAllBegun>
    __device__ static void multiply(Shape const& shape, Tap tap, typename Atom::Sums& sums,
                                    WhenAllBegun const& when_all_begun) {
        int const taps = shape.window_rows * shape.window_columns;
        if constexpr (Atom::cuts_off) {
#pragma unroll
            for (float& sum : sums) sum = 0;
#pragma unroll 1
            for (int left = taps; left > 0; left -= 2) {
                Tap next = tap;
                next.advance(shape);
                add_products<0>(tap, next, left > 1, sums);
                add_products<1>(tap, next, left > 1, sums);
                tap = next;
                tap.advance(shape);
            }
            when_all_begun();
        } else {
#pragma unroll 1
            for (int i = 0; i < taps; ++i, tap.advance(shape)) {
                begin_products<Atom>(tap.filters, tap.x, sums, i > 0);
                ptx::wgmma_wait<1>();
            }
            when_all_begun();
            ptx::wgmma_wait<0>();
            ptx::fence_operands(sums);
        }
    }

    template <class Product>
    __device__ static void begin_products(std::uint64_t filters, std::uint64_t x, typename Product::Sums& sums,
                                          bool adds) {
        ptx::fence_operands(sums);
        ptx::wgmma_fence();
#pragma unroll
        for (unsigned k = 0; k < Product::tile_k / Product::k; ++k)
            Product::multiply(sums, filters + k * (mn_major ? Product::mn_k_step : Product::k_step),
                              x + k * Product::k_step, adds || k > 0);
        ptx::wgmma_commit();
    }
    template <int half_of_tile>
    __device__ static void add_products(Tap const& tap, Tap const& next, bool has_next, typename Atom::Sums& sums) {
        using Product = ProductOf<pixels / 2>;
        constexpr int count = Product::sums_per_thread;
        constexpr std::uint64_t further = Product::rows_further(half_of_tile * Product::n);
        typename Product::Sums of_taps;
        begin_products<Product>(tap.filters, tap.x + further, of_taps, false);
        if (has_next) begin_products<Product>(next.filters, next.x + further, of_taps, true);
        ptx::wgmma_wait<0>();
        ptx::fence_operands(of_taps);
#pragma unroll
        for (int e = 0; e < count; ++e) sums[half_of_tile * count + e] += of_taps[e];
    }
};

}  // namespace fusekit::hip
