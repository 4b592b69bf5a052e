// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/copy/plane_pipeline.hpp"
#include "fusekit/backend/hip/copy/tma_float_filters.hpp"
#include "fusekit/backend/hip/epilogue/nchw_float_store.hpp"
#include "fusekit/backend/hip/mainloop/warp_roles.hpp"
#include "fusekit/backend/hip/mma/bf16x6.hpp"
#include "fusekit/backend/hip/mma/gemm.hpp"
#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// FP32 convolution of NCHW or NHWC tensors on sm_90a's tensor cores at FP32 accuracy (mma/bf16x6.hpp), stride and
/// dilation 1. GemmM is the channels of y. GemmN is the pixels of an output tile, including the gaps between rows; a
/// tile consists of several parts, each some rows of an image (PlaneTiles).
///
/// Eight producer warps load x, split it into bfloat16 terms and transpose it, once for all taps and filters. Two
/// consumer warpgroups compute the same 64 channels, each at its own pixels, and split the filters in registers. GemmK
/// runs over blocks of 32 channels of x. If channels are contiguous in w (params.channels_fastest), a step of the loop
/// over a block multiplies one tap of all 32 channels; otherwise three taps of a slice of 16 channels. The sums of a
/// step, over 32 or 48 indices of GemmK, are promoted to the accumulators; error bound: (13 + K / 32) 2^-24 sum |a b|.
/// While one warpgroup promotes, the other's MMAs run. mma::k_loop() is not used, because filters are split between the
/// issues of MMAs, and the filters of the next step are loaded while a step's MMAs are in flight.
template <class Plan, class Schedule>
class FloatPlanesGemm : public TmaKernel {
    static constexpr int parts = Schedule::parts, consumers = Schedule::consumers;
    /// number of MMAs per part of the tile (PlanePart: rows of an image), along GemmN
    static constexpr int products = Schedule::products;
    /// number of accumulator tiles of a warpgroup, one per MMA
    static constexpr int own = parts * products / consumers;
    /// True if the MMAs' N is chosen at run time, as small as the output tile allows. 1x1 convolutions are not bound by
    /// MMAs and use the full N.
    static constexpr bool chooses_columns = Schedule::pixels == 240 && Plan::Head::longest > 1;
    static_assert(own * consumers == parts * products && (own == 1 || products == 1));
    using Tiles = PlaneTiles<Schedule::pixels, float>;
    using Atom = Wgmma<bfloat16, Schedule::pixels / products, ptx::Major::k, ptx::Major::k, Tiles::row_bytes>;
    using Grid = PlaneGrid<Tiles, parts, Atom::m>;
    using Stages = PlaneStages<float, Grid, parts, Schedule::x_bytes(sizeof(float)), consumers>;
    template <bool contiguous_taps>
    using Filters = FloatPlaneFilters<Grid, 4 * consumers, contiguous_taps>;
    static constexpr int filter_bytes = Filters<true>::bytes;
    using Writer = NchwFloatStore<Plan, Atom, Tiles>;
    using Accumulators = typename Atom::Accumulators[own];
    static constexpr unsigned loading_barrier = 1;  ///< number of the first named barrier of the producer warps
    using Roles = WarpRoles<consumers, RegisterBudget<56, 200, 2, consumers>, 2>;

public:
    using Params = ConvParams<Plan, float, float>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;

    struct alignas(1024) DynamicShared {
        unsigned char filters[filter_bytes];
        typename Stages::Shared x;
        FloatPlaneFiltersState filters_state;
    };

    static_assert(threads == 32 * (4 * consumers + static_cast<int>(Stages::warps)));
    static_assert(sizeof(DynamicShared) <= 227 * 1024,
                  "the stages and tiles of a CTA exceed the 227 KB of shared memory of sm_90");

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        Tiles const tiles(conv.y[2], conv.y[3], conv.x.layout.shape[2], conv.x.layout.shape[3], conv.filter, conv.y[0],
                          params.maps.in_use);
        Grid const grid(conv, tiles);
        Roles const roles(thread);
        // True if SMEM has room for a second stage of KCRS filters in addition to x.
        bool const has_more = !params.channels_fastest && Stages::fits(tiles, filter_bytes);
        int const more_bytes = has_more ? filter_bytes : 0;
        begin(thread, [&] {
            shared.filters_state.init();
            shared.x.init(tiles);
        });
        unsigned char* const more = has_more ? Stages::last(shared.x, more_bytes) : nullptr;
        if (roles.begin_producer()) {
            Stages::load(params, conv, shared.x, tiles, grid, roles.warp - Roles::first_producer, thread % 32, block,
                         loading_barrier, more_bytes);
        } else {
            auto const with = [&]<bool contiguous_taps>(std::bool_constant<contiguous_taps>) {
                Filters<contiguous_taps> filters(shared.filters, more, shared.filters_state, grid, block);
                filters.fill(params, conv, roles.warp == 0);
                compute(params, conv, shared, tiles, grid, filters, thread % 128, roles.group, block);
            };
            if constexpr (Plan::Head::longest >= 3)
                if (!params.channels_fastest) return with(std::true_type{});
            with(std::false_type{});
        }
    }

private:
    /// Computes and stores the CTA's output tiles, from `first_tile` on. A step multiplies `count` taps of 16 channels
    /// each, or `count` slices of 16 channels of one tap; the filters of the next step are loaded while a step's MMAs
    /// are in flight.
    template <bool contiguous_taps, class Problem>
    __device__ static void compute(Params const& params, Problem const& conv, DynamicShared& shared, Tiles const& tiles,
                                   Grid const& grid, Filters<contiguous_taps> filters, unsigned thread, unsigned group,
                                   unsigned first_tile) {
        constexpr int slices = Atom::tile_k / Atom::k, count = contiguous_taps ? 3 : slices;
        int const steps = contiguous_taps ? 3 * slices : tiles.taps(), first_product = static_cast<int>(group) * own,
                  first_part = first_product / products, columns = columns_of(tiles),
                  first_pixel = first_product % products * columns;
        float w[count][8];
        auto const load = [&](int step) {
            if constexpr (contiguous_taps) filters.load(w, thread, step % 3);
            else filters.load(w, thread);
            if (!contiguous_taps || step % 3 == 2) filters.release(params, conv);
        };
        load(0);
        typename Stages::State state;
        for (PersistentTile at{first_tile, gridDim.x, grid.size()}; at.exists(); at.advance()) {
            unsigned const tile = at.number;
            bool const is_last = at.is_last();
            Writer const writer(params, tiles, grid.first_channel(tile), thread);
            Accumulators acc = {};
#pragma unroll 1
            for (int block = 0; block < grid.channel_blocks(); ++block, state.advance()) {
                shared.x.tiles.consumer_wait(state);
                auto const x = Atom::add_rows(Atom::descriptor(Stages::address(shared.x, tiles, state)),
                                              first_part * tiles.pixels_of_x() + first_pixel);
                bool const block_is_last = is_last && block + 1 == grid.channel_blocks();
#pragma unroll 1
                for (int step = 0, row = 0, column = 0; step < steps; ++step) {
                    std::uint64_t of_x[count];
#pragma unroll
                    for (int i = 0; i < count; ++i)
                        of_x[i] = contiguous_taps ? Atom::add_rows(x, step % 3 * tiles.pitch + i) +
                                                        static_cast<unsigned>(step / 3) * Atom::k_step
                                                  : Atom::add_rows(x, row * tiles.pitch + column) +
                                                        static_cast<unsigned>(i) * Atom::k_step;
                    if (++column == tiles.window_columns) column = 0, ++row;
                    add_products(w, of_x, tiles, columns, acc, [&] {
                        bool const ends = step + 1 == steps;
                        if (!ends || !block_is_last) load(ends ? 0 : step + 1);
                    });
                }
                if (thread == 0) shared.x.tiles.consumer_release(state.stage);
            }
            if (is_last) start_next_kernel();
#pragma unroll
            for (int i = 0; i < own; ++i) writer.store(acc[i], grid.part(tile, first_part + i), first_pixel, columns);
        }
    }

    /// Returns N, the number of pixels, of one MMA.
    __device__ static int columns_of(Tiles const& tiles) {
        if constexpr (chooses_columns) return tiles.columns_of_half();
        return Atom::n;
    }

    /// Accumulates one step: multiplies the filters in `remainder` by the operands x[0] to x[count - 1], which are SMEM
    /// descriptors. Calls load_next() while the step's MMAs are in flight.
    template <int count, class LoadNext>
    __device__ static void add_products(float (&remainder)[count][8], std::uint64_t const (&x)[count],
                                        Tiles const& tiles, int columns, Accumulators& acc, LoadNext const& load_next) {
        auto const add = [&]<int of_product>(std::integral_constant<int, of_product>) {
            add_columns<of_product>(remainder, x, tiles, acc, load_next);
        };
        if constexpr (chooses_columns) {
            if (columns == 104) return add(std::integral_constant<int, 104>{});
            if (columns == 112) return add(std::integral_constant<int, 112>{});
        }
        add(std::integral_constant<int, Atom::n>{});
    }

    /// add_products() for MMAs with N = `columns`. Splits the filters into bfloat16 terms between the issues of MMAs.
    template <int columns, int count, class LoadNext>
    __device__ static void add_columns(float (&remainder)[count][8], std::uint64_t const (&x)[count],
                                       Tiles const& tiles, Accumulators& acc, LoadNext const& load_next) {
        auto const term = static_cast<unsigned>(tiles.term_bytes(parts)) / 16;
        using Product = Wgmma<bfloat16, columns, ptx::Major::k, ptx::Major::k, Tiles::row_bytes>;
        typename Product::Accumulators step[own];
        std::uint32_t w[3][count][4];
#pragma unroll
        for (int number = 0; number < 6; ++number) {
            int const of_w = bf16x6_term(number, 0);
            auto const of_x = static_cast<unsigned>(bf16x6_term(number, 1));
            if (number < 3) {
#pragma unroll
                for (int i = 0; i < count; ++i) {
                    ptx::fence_operands(remainder[i]);
                    take_bf16_term(remainder[i], w[of_w][i]);
                }
            }
            auto const a = [&](unsigned k, unsigned) -> auto const& {
                return w[of_w][k];
            };  // (COUNT, 64, 16), registers
            auto const b = [&](unsigned k, unsigned i) {  // (COUNT, OWN, COLUMNS, 16), swizzled
                return x[k] + of_x * term + Atom::row_offset(static_cast<int>(i) * tiles.pixels_of_x());
            };
            mma::issue<Product, count>(step, a, b, number > 0);  // (OWN, 64, COLUMNS) += over (COUNT, 16)
        }
        ptx::wgmma_commit();
        load_next();  // cannot write operand a's registers: no word of `w` is carried to the next step
        mma::wait(step);
#pragma unroll
        for (int j = 0; j < own; ++j)
#pragma unroll
            for (int e = 0; e < columns / 2; ++e) acc[j][e] += step[j][e];
    }
};

}  // namespace fusekit::hip
