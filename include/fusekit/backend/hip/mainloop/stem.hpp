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
/// channels of y. The CTA keeps its 64 filters in SMEM. Each warpgroup computes output tiles of 64 pixels on its own:
/// TMA loads the rows of x that the next tiles read, in x's layout, with zeros out of bounds; from these rows threads
/// load the windows into registers, as wgmma's operand a. It shares only the preamble with the other sm_90a kernels:
/// there are no producer warps, because each warpgroup loads its own stages, and a stage is a whole tile.
template <class Plan, class Schedule, Element T>
class StemGemm : public TmaKernel {
    static constexpr int consumers = Schedule::consumers, stages = 2;
    using Atom = Wgmma<T, Schedule::channels>;
    using Panel = SwizzledTile<T, Schedule::channels>;
    using Windows = StemWindows<Atom>;
    using Writer = TmaStorePixels<Plan, Atom, T>;
    static_assert(Atom::m == StemShape::pixels && Atom::tile_k == StemShape::max_chunks * Atom::k);

    /// Number of the first named barrier; each warpgroup has one.
    static constexpr unsigned first_barrier = 1;

public:
    using Params = ConvParams<Plan, T, T>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;

    struct alignas(1024) DynamicShared {
        Panel filters[Schedule::max_panels];
        typename Writer::Shared writers[consumers];
        alignas(128) unsigned char windows[consumers][stages][Schedule::stage_bytes];
        TmaStages<stages> full[consumers];
    };
    static_assert(sizeof(DynamicShared) <= 227 * 1024,
                  "the stages and tiles of a CTA exceed the 227 KB of shared memory of sm_90");

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        StemShape const& shape = params.stem;
        Tiles const tiles(conv, shape, params.x, block);
        unsigned const group = ptx::warp_uniform(thread / Atom::threads);
        begin(thread, [&] {
            for (auto& writer : shared.writers) Writer::init(writer);
            for (auto& of_group : shared.full) of_group.init(shape.by_tma ? 1 : StemRows<T>::lanes);
            ptx::fence_mbarrier_init();
        });
        for (unsigned stage = 0; stage < stages; ++stage)
            load(params, conv, shared, tiles, tiles.first(group) + stage * tiles.step, thread % Atom::threads, group,
                 stage);
        Writer::prepare(params, conv, shared.writers[group], tiles.channel, thread % Atom::threads);
        put_stem_filters(shared.filters, shape, conv, tiles.channel, thread, threads);
        ptx::fence_proxy_async();
        __syncthreads();
        compute(params, conv, shared, tiles, thread % Atom::threads, group);
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
    /// assigned round-robin to these CTAs, and then to each CTA's warpgroups.
    struct Tiles {
        int shift, channel;
        unsigned across, of_image, all, begin, sharers, step;
        T const* last;  ///< the address after the last element of x

        template <class Problem>
        __device__ Tiles(Problem const& conv, StemShape const& shape, TensorView<T const> const& x, unsigned block)
            : shift(shape.shift),
              across(static_cast<unsigned>(divide_up_32(conv.extent(conv.y, 3), shape.columns()))),
              of_image(across * static_cast<unsigned>(divide_up_32(conv.extent(conv.y, 2), shape.rows()))),
              all(of_image * static_cast<unsigned>(conv.y[0])) {
            auto const columns = static_cast<unsigned>(detail::divide_up(conv.group_k(), Schedule::channels));
            channel = static_cast<int>(block % columns) * Schedule::channels;
            begin = block / columns, sharers = gridDim.x / columns, step = sharers * consumers;
            last = x.data + 1;
            for (int mode = 0; mode < 4; ++mode)
                if (x.layout.stride[mode] > 0) last += x.layout.stride[mode] * (x.layout.shape[mode] - 1);
        }

        __device__ unsigned first(unsigned group) const { return begin + group * sharers; }
        __device__ Tile operator[](unsigned tile) const {
            unsigned const image = tile / of_image, in_image = tile - image * of_image, row = in_image / across;
            return {channel, static_cast<int>(image), static_cast<int>(row) * (StemShape::pixels >> shift),
                    static_cast<int>(in_image - row * across) << shift, shift};
        }
    };

    /// Returns the index, in a row of x, of the first element that the windows of a tile read; negative in the padding.
    /// The TMA load begins at the multiple of 8 elements at or before it.
    __device__ static int first_element(StemShape const& shape, Tile const& tile) {
        return tile.q * shape.step - shape.lead_in;
    }

    /// Issues the TMA load of the rows of x that tile `number` reads, or copies them; does nothing past the last tile.
    /// All threads of the warpgroup call it.
    template <class Problem>
    __device__ static void load(Params const& params, Problem const& conv, DynamicShared& shared, Tiles const& tiles,
                                unsigned number, unsigned thread, unsigned group, unsigned stage) {
        StemShape const& shape = params.stem;
        if (number >= tiles.all || thread >= (shape.by_tma ? 1u : StemRows<T>::lanes)) return;
        Tile const tile = tiles[number];
        if (!shape.by_tma)
            return rows_of(params, conv, tile)
                .load(reinterpret_cast<T*>(shared.windows[group][stage]), shared.full[group], stage, tiles.last,
                      thread);
        int const first = first_element(shape, tile) & ~(StemShape::chunk - 1),
                  row = tile.p * conv.filter.strides[0] - conv.filter.pad_before[0];
        auto const full = shared.full[group].producer_expect_tx(stage, static_cast<unsigned>(shape.bytes_of_x()));
        ptx::tma_load(ptx::shared_address(shared.windows[group][stage]), &params.maps.x, full,
                      {first, row, tile.image, 0});
    }

    template <class Problem>
    __device__ static StemRows<T> rows_of(Params const& params, Problem const& conv, Tile const& tile) {
        StemShape const& shape = params.stem;
        int const columns = (min)(shape.columns(), conv.extent(conv.y, 3) - tile.q),
                  rows = (min)(shape.rows(), conv.extent(conv.y, 2) - tile.p), first = first_element(shape, tile);
        return {shape,
                params.x,
                tile.image,
                tile.p * conv.filter.strides[0] - conv.filter.pad_before[0],
                (rows - 1) * conv.filter.strides[0] + (conv.filter.size[0] - 1) * conv.filter.dilations[0] + 1,
                first,
                first + (columns - 1) * shape.step + shape.row_elements};
    }

    template <class Problem>
    __device__ static void compute(Params const& params, Problem const& conv, DynamicShared& shared, Tiles const& tiles,
                                   unsigned thread, unsigned group) {
        StemShape const& shape = params.stem;
        typename Writer::Shared& writer = shared.writers[group];
        unsigned const barrier = first_barrier + group;
        Windows const windows(shape, conv.filter,
                              shape.by_tma ? 0 : static_cast<int>(params.x.layout.stride[2] % StemShape::chunk),
                              thread);
        PipelineState<stages> state;
        unsigned count = 0;
        for (PersistentTile at{tiles.first(group), tiles.step, tiles.all}; at.exists();
             at.advance(), ++count, state.advance()) {
            Tile const tile = tiles[at.number];
            Writer::begin_read(params, writer, tile, thread);
            shared.full[group].consumer_wait(state);
            unsigned char* const begin = shared.windows[group][state.stage];
            int phase = first_element(shape, tile) & (StemShape::chunk - 1);
            if (!shape.by_tma) {
                StemRows<T> const rows = rows_of(params, conv, tile);
                phase = rows.phase(0);
                if (rows.is_padded()) {
                    rows.fill(reinterpret_cast<T*>(begin), thread);
                    ptx::bar_sync(barrier, Atom::threads);
                }
            }
            typename Atom::Accumulators acc;
            multiply_by<1>(shared, windows, begin, phase, shape, acc);
            if (at.is_last()) start_next_kernel();
            Writer::store(params, conv, writer, tile, acc, thread, barrier, count);
            // all threads have passed a barrier since they read the stage
            load(params, conv, shared, tiles, at.number + stages * tiles.step, thread, group, state.stage);
        }
        if (thread == 0) ptx::bulk_wait_group_read();
    }

    /// Multiplies a tile by multiply() with shape.chunks, the number of 16-byte chunks per window row, as a template
    /// argument: tries `chunks`, then larger numbers.
    template <int chunks>
    __device__ static void multiply_by(DynamicShared& shared, Windows const& windows, unsigned char const* begin,
                                       int phase, StemShape const& shape, typename Atom::Accumulators& acc) {
        if constexpr (chunks < StemShape::max_chunks)
            if (shape.chunks > chunks) return multiply_by<chunks + 1>(shared, windows, begin, phase, shape, acc);
        if (!shape.whole_words) return multiply<chunks, false>(shared, windows, begin, phase, shape.panels, acc);
        multiply<chunks, true>(shared, windows, begin, phase, shape.panels, acc);
    }

    /// Multiplies the windows of a tile by the filters, one panel of filters (two window rows, TILE_K) at a time.
    template <int chunks, bool whole_words>
    __device__ static void multiply(DynamicShared& shared, Windows const& windows, unsigned char const* begin,
                                    int phase, int panels, typename Atom::Accumulators& acc) {
        auto filters = Atom::descriptor(ptx::shared_address(shared.filters));
#pragma unroll 1
        for (int panel = 0; panel < panels; ++panel, filters += Atom::row_offset(Atom::n)) {
            typename Windows::template Words<chunks> words;
            windows.template load<chunks, whole_words>(begin, phase, panel, words);
            auto const a = [&](unsigned k, unsigned) -> auto const& { return words[k]; };  // (64, 16 CHUNKS), registers
            mma::OperandB<Atom> const b{filters};  // (64, 16 CHUNKS), swizzled
            mma::gemm<Atom, chunks>(acc, a, b, panel > 0);  // (64, 64) += over 16 CHUNKS
            mma::wait(acc);
        }
    }
};

}  // namespace fusekit::hip
