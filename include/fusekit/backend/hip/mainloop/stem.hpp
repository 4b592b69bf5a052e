// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/copy/stem.hpp"
#include "fusekit/backend/hip/epilogue/tma_store_pixels.hpp"
#include "fusekit/backend/hip/mainloop/warp_roles.hpp"
#include "fusekit/backend/hip/mma/gemm.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"

namespace fusekit::hip {

/// Convolution of few channels, such as a network's first, on sm_90a's tensor cores. GemmM is the pixels, GemmN the
/// channels of y. The CTA keeps its 64 filters in SMEM. Each consumer warpgroup computes output tiles of 64 pixels on
/// its own: a producer warp TMA-loads the rows of x that its next tiles read, in x's layout, with zeros out of bounds;
/// from these rows threads load the windows into registers, as wgmma's operand a. A stage is a whole tile.
template <class Plan, class Schedule, Element T>
class StemGemm : public TmaKernel {
    static constexpr int consumers = Schedule::consumers, max_stages = StemShape::max_stages;
    using Atom = Wgmma<T, Schedule::channels>;
    using Panel = SwizzledTile<T, Schedule::channels>;
    using Windows = StemWindows<Atom>;
    using Writer = TmaStorePixels<Plan, Atom, T>;
    using Roles = WarpRoles<consumers, EqualRegisters>;
    static_assert(Schedule::max_panels == StemShape::max_panels);
    static_assert(Atom::m == StemShape::pixels && Atom::tile_k == StemShape::max_chunks * Atom::k);

    /// Numbers of the named barriers: of the consumers' filters, then one of each consumer.
    static constexpr unsigned filters_barrier = 1, first_barrier = 2;

public:
    using Params = ConvParams<Plan, T, T>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;

    struct alignas(1024) DynamicShared {
        Panel filters[Schedule::max_panels];
        typename Writer::Shared writers[consumers];
        alignas(128) unsigned char windows[consumers][Schedule::window_bytes];
        TmaPipeline<max_stages, 1> pipelines[consumers];
    };
    static_assert(sizeof(DynamicShared) <= 227 * 1024,
                  "the stages and tiles of a CTA exceed the 227 KB of shared memory of sm_90");

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        Roles const roles(thread);
        begin(thread, [&] {
            for (auto& writer : shared.writers) Writer::init(writer);
            for (auto& pipeline : shared.pipelines) pipeline.init();
        });
        CtaTiles const tiles(params.stem, block);
        if (roles.begin_producer()) {
            unsigned const group = roles.warp - Roles::first_producer;
            if (group < consumers && ptx::elect_sync()) load(params, conv, shared, tiles, group);
        } else {
            compute(params, conv, shared, tiles, thread, roles.group);
        }
    }

private:
    /// An output tile: 64 channels of y from channel `n` on; 64 pixels of image `image` in rows of 2^shift, from pixel
    /// (p, q) on.
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

    /// The output tiles of a CTA, all with the same 64 channels of y. `sharers` CTAs have the same channels: tiles are
    /// assigned round-robin to these CTAs, and then to each CTA's consumers.
    struct CtaTiles {
        StemTiles const& all;
        int channel;
        unsigned begin, sharers, step;

        __device__ CtaTiles(StemTiles const& tiles, unsigned block) : all(tiles) {
            unsigned const columns = all.channel_tiles.value();
            begin = all.channel_tiles.divide(block), sharers = all.channel_tiles.divide(gridDim.x);
            channel = static_cast<int>(block - begin * columns) * Schedule::channels;
            step = sharers * consumers;
        }

        /// Sequence of the tiles of a consumer.
        __device__ PersistentTile of(unsigned group) const { return {begin + group * sharers, step, all.all}; }
        __device__ Tile operator[](unsigned tile) const {
            unsigned const image = all.of_image.divide(tile), in_image = tile - image * all.of_image.value(),
                           row = all.of_row.divide(in_image);
            return {channel, static_cast<int>(image), static_cast<int>(row) * all.rows(),
                    static_cast<int>(in_image - row * all.of_row.value()) << all.shift, all.shift};
        }
    };

    template <class Problem>
    __device__ static StemRows<T> rows_of(Params const& params, Problem const& conv, Tile const& tile) {
        StemTiles const& tiles = params.stem;
        return {tiles, params.x, tile.image, tile.p * conv.filter.strides[0] - conv.filter.pad_before[0],
                tile.q * tiles.step - tiles.lead_in};
    }

    __device__ static unsigned char* window_stage(Params const& params, DynamicShared& shared, unsigned group,
                                                  DynamicPipelineState const& state) {
        return shared.windows[group] + state.stage * params.stem.stage_bytes();
    }

    /// Issues the TMA loads of consumer `group`, in one thread.
    template <class Problem>
    __device__ static void load(Params const& params, Problem const& conv, DynamicShared& shared, CtaTiles const& tiles,
                                unsigned group) {
        DynamicPipelineState state{params.stem.window_stages};
        auto const& pipeline = shared.pipelines[group];
        auto const bytes = static_cast<unsigned>(params.stem.loaded_bytes());
        for (PersistentTile at = tiles.of(group); at.exists(); at.advance(), state.advance()) {
            StemRows<T> const rows = rows_of(params, conv, tiles[at.number]);
            auto const full = pipeline.producer_acquire(state, bytes);
            rows.load(ptx::shared_address(window_stage(params, shared, group, state)), &params.maps.x, full);
        }
    }

    template <class Problem>
    __device__ static void compute(Params const& params, Problem const& conv, DynamicShared& shared,
                                   CtaTiles const& tiles, unsigned of_cta, unsigned group) {
        constexpr unsigned all_threads = consumers * Atom::threads;
        StemTiles const& shape = params.stem;
        typename Writer::Shared& writer = shared.writers[group];
        auto const& pipeline = shared.pipelines[group];
        unsigned const barrier = first_barrier + group, thread = of_cta % Atom::threads;
        Writer::prepare(params, conv, writer, tiles.channel, thread);
        put_stem_filters(shared.filters, shape, conv, tiles.channel, of_cta, all_threads);
        ptx::fence_proxy_async();
        ptx::bar_sync(filters_barrier, all_threads);
        Windows const windows(shape, conv.filter, thread);
        DynamicPipelineState state{shape.window_stages};
        unsigned count = 0;
        for (PersistentTile at = tiles.of(group); at.exists(); at.advance(), ++count, state.advance()) {
            Tile const tile = tiles[at.number];
            Writer::begin_read(params, writer, tile, thread);
            unsigned char* const stage = window_stage(params, shared, group, state);
            pipeline.consumer_wait(state);
            StemRows<T> const rows = rows_of(params, conv, tile);
            if (shape.by_rows && rows.has_gaps()) {
                rows.fill(stage, thread);
                ptx::bar_sync(barrier, Atom::threads);
            }
            typename Atom::Accumulators acc;
            multiply_by<1>(shared, windows, stage, rows.phase(0), shape, acc);
            if (at.is_last()) start_next_kernel();
            Writer::store(params, conv, writer, tile, acc, thread, barrier, count);
            // all threads have passed a barrier, and a proxy fence, since they accessed the stage
            if (thread == 0) pipeline.consumer_release(state.stage);
        }
        if (thread == 0) ptx::bulk_wait_group_read();
    }

    /// Multiplies a tile by multiply() with shape.chunks, the number of 16-byte chunks per window row, as a template
    /// argument: tries `chunks`, then larger numbers.
    template <int chunks>
    __device__ static void multiply_by(DynamicShared& shared, Windows const& windows, unsigned char const* stage,
                                       int phase, StemShape const& shape, typename Atom::Accumulators& acc) {
        if constexpr (chunks < StemShape::max_chunks)
            if (shape.chunks > chunks) return multiply_by<chunks + 1>(shared, windows, stage, phase, shape, acc);
        if (!shape.whole_words) return multiply<chunks, false>(shared, windows, stage, phase, shape, acc);
        multiply<chunks, true>(shared, windows, stage, phase, shape, acc);
    }

    /// Multiplies the windows of a tile by the filters, one panel of filters (two window rows, TILE_K) at a time.
    template <int chunks, bool whole_words>
    __device__ static void multiply(DynamicShared& shared, Windows const& windows, unsigned char const* stage,
                                    int phase, StemShape const& shape, typename Atom::Accumulators& acc) {
        int const set = shape.sets() == 2 ? phase & 1 : 0;
        auto filters =
            Atom::descriptor(ptx::shared_address(shared.filters)) + Atom::row_offset(set * shape.panels * Atom::n);
#pragma unroll 1
        for (int panel = 0; panel < shape.panels; ++panel, filters += Atom::row_offset(Atom::n)) {
            typename Windows::template Words<chunks> words;
            windows.template load<chunks, whole_words>(stage, phase, panel, words);
            auto const a = [&](unsigned k, unsigned) -> auto const& { return words[k]; };  // (64, 16 CHUNKS), registers
            mma::OperandB<Atom> const b{filters};  // (64, 16 CHUNKS), swizzled
            mma::gemm<Atom, chunks>(acc, a, b, panel > 0);  // (64, 64) += over 16 CHUNKS
            mma::wait(acc);
        }
    }
};

}  // namespace fusekit::hip
