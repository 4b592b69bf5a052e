// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/collective/stem_operands.hpp"
#include "fusekit/backend/hip/collective/store_pixels.hpp"
#include "fusekit/backend/hip/mma/gemm.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"

namespace fusekit::hip {

/// Convolution of few channels, such as a network's first, on sm_90a's matrix units. Filters stay in shared memory, 64
/// of them in a block. Warpgroups compute a tile of 64 pixels after another, each on its own: bulk copies bring the
/// rows of x that the next tiles read, as they lie, with zeros where x ends; words of their windows pass through
/// registers to the products.
template <class Plan, class Schedule, Element T>
class StemGemm {
    static constexpr int consumers = Schedule::consumers, stages = 2;
    using Atom = Wgmma<T, Schedule::channels>;
    using Panel = SwizzledTile<T, Schedule::channels>;
    using Windows = StemWindows<Atom>;
    using Writer = StorePixels<Plan, Atom, T>;
    static_assert(Atom::m == StemShape::pixels && Atom::tile_k == StemShape::most_chunks * Atom::k);

    /// Named barriers of the warpgroups begin with it.
    static constexpr unsigned first_barrier = 1;

    /// Whether windows of neighbouring pixels may begin an odd number of elements apart.
    static constexpr bool may_be_odd = [] {
        if constexpr (requires { Plan::Head::collapsed; }) return Plan::Head::collapsed.strides[1] % 2 != 0;
        else return true;
    }();

public:
    using Params = ConvParams<Plan, T, T>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;
    static constexpr bool waits_for_previous_kernel = true, reads_argument_in_place = true;

    struct alignas(1024) DynamicShared {
        Panel filters[Schedule::most_panels];
        typename Writer::Shared writers[consumers];
        alignas(128) unsigned char windows[consumers][stages][Schedule::stage_bytes];
        TmaStages<stages> full[consumers];
    };
    static_assert(sizeof(DynamicShared) <= 227 * 1024, "exceeds 227 KB of shared memory per CTA on sm_90");

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        StemShape const& shape = params.stem;
        Tiles const tiles(conv, shape, block);
        unsigned const group = ptx::warp_uniform(thread / Atom::threads);
        if (thread == 0) {
            for (auto& writer : shared.writers) Writer::init(writer);
            for (auto& of_group : shared.full) of_group.init();
            ptx::fence_mbarrier_init();
        }
        __syncthreads();
        wait_for_previous_kernel();
        if (thread % Atom::threads == 0)
            for (unsigned stage = 0; stage < stages; ++stage)
                load(params, conv, shared, tiles, tiles.first(group) + stage * tiles.step, group, stage);
        Writer::prepare(params, conv, shared.writers[group], tiles.channel, thread % Atom::threads);
        put_stem_filters(shared.filters, shape, conv, tiles.channel, thread, threads);
        ptx::fence_proxy_async();
        __syncthreads();
        compute(params, conv, shared, tiles, thread % Atom::threads, group);
    }

private:
    /// A tile: where it begins in y, and the shape that it has.
    struct Tile {
        int n, image, p, q, shift;

        template <class Problem>
        __device__ TilePixel pixel(Problem const& conv, int row) const {
            int const at_p = p + (row >> shift), at_q = q + (row & ((1 << shift) - 1));
            int const last_p = static_cast<int>(conv.y[2]) - 1, last_q = static_cast<int>(conv.y[3]) - 1;
            return {{image, (min)(at_p, last_p), (min)(at_q, last_q)}, at_p <= last_p && at_q <= last_q};
        }
        __device__ BoxStart box() const { return {{n, q, p, image}}; }
    };

    /// The tiles of a block: those of one 64 channels, which as many blocks share as have them. Blocks take one each in
    /// turns, and of a block its warpgroups.
    struct Tiles {
        int shift, channel;
        unsigned across, of_image, all, begin, sharers, step;

        template <class Problem>
        __device__ Tiles(Problem const& conv, StemShape const& shape, unsigned block)
            : shift(shape.shift),
              across(static_cast<unsigned>(divide_up_32(conv.extent(conv.y, 3), shape.columns()))),
              of_image(across * static_cast<unsigned>(divide_up_32(conv.extent(conv.y, 2), shape.rows()))),
              all(of_image * static_cast<unsigned>(conv.y[0])) {
            auto const columns = static_cast<unsigned>(detail::divide_up(conv.group_k(), Schedule::channels));
            channel = static_cast<int>(block % columns) * Schedule::channels;
            begin = block / columns, sharers = gridDim.x / columns, step = sharers * consumers;
        }

        __device__ unsigned first(unsigned group) const { return begin + group * sharers; }
        __device__ Tile operator[](unsigned tile) const {
            unsigned const image = tile / of_image, in_image = tile - image * of_image, row = in_image / across;
            return {channel, static_cast<int>(image), static_cast<int>(row) * (StemShape::pixels >> shift),
                    static_cast<int>(in_image - row * across) << shift, shift};
        }
    };

    /// The element of its row of x that a tile's first window begins at, or the zero before it. Copies begin at
    /// multiples of 8.
    __device__ static int first_element(StemShape const& shape, Tile const& tile) {
        return tile.q * shape.step - shape.before;
    }

    /// Begins to bring what a tile reads. Called by one thread of the warpgroup.
    template <class Problem>
    __device__ static void load(Params const& params, Problem const& conv, DynamicShared& shared, Tiles const& tiles,
                                unsigned number, unsigned group, unsigned stage) {
        if (number >= tiles.all) return;
        StemShape const& shape = params.stem;
        Tile const tile = tiles[number];
        auto const full = shared.full[group].producer_expect_tx(stage, static_cast<unsigned>(shape.bytes_of_x()));
        ptx::tma_load(ptx::shared_address(shared.windows[group][stage]), &params.maps.x, full,
                      {first_element(shape, tile) & ~(StemShape::chunk - 1),
                       tile.p * conv.filter.strides[0] - conv.filter.pad_before[0], tile.image, 0});
    }

    template <class Problem>
    __device__ static void compute(Params const& params, Problem const& conv, DynamicShared& shared, Tiles const& tiles,
                                   unsigned thread, unsigned group) {
        StemShape const& shape = params.stem;
        typename Writer::Shared& writer = shared.writers[group];
        unsigned const barrier = first_barrier + group;
        Windows const windows(shape, conv.filter, thread);
        PipelineState<stages> state;
        for (unsigned number = tiles.first(group), count = 0; number < tiles.all;
             number += tiles.step, ++count, state.advance()) {
            Tile const tile = tiles[number];
            Writer::begin_read(params, writer, tile, thread);
            shared.full[group].consumer_wait(state);
            unsigned char const* const begin =
                shared.windows[group][state.stage] + (first_element(shape, tile) & (StemShape::chunk - 1)) * 2;
            typename Atom::Sums sums;
            multiply_by<1>(shared, windows, begin, shape, sums);
            if (number + tiles.step >= tiles.all) start_next_kernel();
            Writer::store(params, conv, writer, tile, sums, thread, barrier, count);
            if (thread == 0)  // all have been at a barrier since they read the stage
                load(params, conv, shared, tiles, number + stages * tiles.step, group, state.stage);
        }
        if (thread == 0) ptx::bulk_wait_group_read();
    }

    /// A tile's products, with as many chunks of a row of the window as there are, `chunks` or more.
    template <int chunks>
    __device__ static void multiply_by(DynamicShared& shared, Windows const& windows, unsigned char const* begin,
                                       StemShape const& shape, typename Atom::Sums& sums) {
        if constexpr (chunks < StemShape::most_chunks)
            if (shape.chunks > chunks) return multiply_by<chunks + 1>(shared, windows, begin, shape, sums);
        if constexpr (may_be_odd)
            if (!shape.whole_words) return multiply<chunks, false>(shared, windows, begin, shape.panels, sums);
        multiply<chunks, true>(shared, windows, begin, shape.panels, sums);
    }

    /// The same, a panel at a time.
    template <int chunks, bool whole_words>
    __device__ static void multiply(DynamicShared& shared, Windows const& windows, unsigned char const* begin,
                                    int panels, typename Atom::Sums& sums) {
        auto filters = Atom::descriptor(ptx::shared_address(shared.filters));
#pragma unroll 1
        for (int panel = 0; panel < panels; ++panel, filters += Atom::rows_further(Atom::n)) {
            typename Windows::template Words<chunks> words;
            windows.template load<chunks, whole_words>(begin, panel, words);
            auto const a = [&](unsigned k, unsigned) -> auto const& { return words[k]; };  // (64, 16 CHUNKS), registers
            mma::OperandB<Atom> const b{filters};  // (64, 16 CHUNKS), swizzled
            mma::gemm<Atom, chunks>(sums, a, b, panel > 0);  // (64, 64) += over 16 CHUNKS
            mma::wait(sums);
        }
    }
};

}  // namespace fusekit::hip
