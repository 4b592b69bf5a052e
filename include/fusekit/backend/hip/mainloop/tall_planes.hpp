// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/copy/plane_windows.hpp"
#include "fusekit/backend/hip/mainloop/warp_roles.hpp"
#include "fusekit/backend/hip/mma/bf16x6.hpp"
#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// Convolution of NCHW planes of floats or 16-bit elements with few filters (schedule/tall_planes.hpp), as a product of
/// windows: y[m, k] = epilogue(sum over GemmK of x[m] w[k]), where m counts the pixels of y. SMEM has the filters,
/// floats as three bfloat16 terms. A thread loads the windows of two adjacent pixels from global memory to registers,
/// splits floats, and has them as operand a of wgmma: row 16 w + g of a warpgroup's MMA is pixel 16 w + 2 g of its
/// tile, row 16 w + 8 + g is pixel 16 w + 2 g + 1. While the MMAs of a step run, the loads of the next step are in
/// flight. Products of 32 indices of GemmK are promoted.
template <class Plan, class Schedule, Element T>
class TallPlanesConv : public TmaKernel {
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    using Tiles = TallPlaneTiles;
    static constexpr bool is_split = std::is_same_v<T, float>;
    using Atom = Wgmma<std::conditional_t<is_split, bfloat16, T>, Tiles::filters>;
    using Filters = std::conditional_t<is_split, Bf16x3Tile<Tiles::filters>, SwizzledTile<T, Tiles::filters>>;
    using Loader =
        PlaneWindows<T, Plan::Head::longest == 1 && !Plan::Head::may_be_padded && Plan::Head::may_be_single_pixels>;
    static constexpr int panel = Tiles::blocks * Tiles::block;
    static_assert(Loader::k_blocks * Atom::k == Tiles::step && Tiles::block == Atom::tile_k);
    static_assert(Schedule::threads == 128 * Tiles::warpgroups);

public:
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;
    using Params = ConvParams<Plan, T, T>;
    using Architecture = typename Atom::Architecture;

    struct alignas(1024) DynamicShared {
        Filters filters[Tiles::blocks];
        Uninitialized<State> states[Epilogue::channelwise ? Tiles::filters : 1];
        typename Loader::Taps taps;
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        Tiles const& tiles = params.tall_planes;
        unsigned const row = tiles.columns.divide(block), rows = gridDim.x / tiles.columns.value(),
                       column = block - row * tiles.columns.value(), group = tiles.of_group.divide(column);
        int const in_group = static_cast<int>(column - group * tiles.of_group.value()) * Tiles::filters,
                  first = static_cast<int>(group) * tiles.group_filters + in_group,
                  count = (min)(tiles.group_filters - in_group, Tiles::filters);
        begin(thread, [] {});
        if constexpr (Epilogue::channelwise) {
            for (int k = static_cast<int>(thread); k < count; k += threads)
                shared.states[k].value() = Epilogue::prepare(std::int64_t{first + k}, params.bound.epilogue);
        }
        shared.taps.init(params.x.layout, tiles, thread, threads);
        bool const is_whole = tiles.k <= panel;
        load_filters(conv.w, tiles, shared, first, count, 0, thread);
        Loader loader(params, shared.taps, group, thread);
        unsigned const own = row * Tiles::warpgroups + ptx::warp_uniform(thread / 128),
                       stride = rows * Tiles::warpgroups;
        loader.begin(own);
        loader.load(0);
#pragma unroll 1
        for (unsigned round = 0; round < tiles.rounds; ++round) {
            unsigned const tile = own + round * stride;
            Accumulators acc = {};
#pragma unroll 1
            for (int from = 0; from < tiles.k; from += panel) {
                if (!is_whole && (round > 0 || from > 0))
                    load_filters(conv.w, tiles, shared, first, count, from, thread);
                int const end = (min)(tiles.k - from, panel);
                bool const is_last_panel = from + panel >= tiles.k;
#pragma unroll 1
                for (int k = 0; k < end; k += Tiles::step) {
                    auto const load_next = [&] {
                        if (k + Tiles::step < end || !is_last_panel) return loader.load(from + k + Tiles::step);
                        if (round + 1 == tiles.rounds) return;
                        loader.begin(tile + stride);
                        loader.load(0);
                    };
                    if (end - k > Atom::k) multiply<2>(shared, loader, k, acc, load_next);
                    else multiply<1>(shared, loader, k, acc, load_next);
                }
            }
            if (round + 1 == tiles.rounds) start_next_kernel();
            store(params, shared, acc, tile, first, count, thread);
        }
    }

private:
    using Accumulators = typename Atom::Accumulators;

    /// Splits a panel of `count` filters, indices `from` of GemmK on, into SMEM. All threads call it.
    template <class W>
    __device__ static void load_filters(W const& w, Tiles const& tiles, DynamicShared& shared, int first, int count,
                                        int from, unsigned thread) {
        constexpr int packet = 4, packets = Tiles::block / packet, of_thread = Tiles::filters * packets / threads;
        int const k = (min)(tiles.k - from, panel);
        std::int64_t const next = tiles.taps > 1 ? 1 : w.layout.stride[1];
        __syncthreads();  // all MMAs have read the previous panel
#pragma unroll 1
        for (int block = 0; block * Tiles::block < k; ++block) {
            T values[of_thread][packet];
#pragma unroll
            for (int i = 0; i < of_thread; ++i) {
                int const number = i * threads + static_cast<int>(thread), row = number / packets,
                          at = block * Tiles::block + number % packets * packet;
                T const* const source = w.data + (first + row) * w.layout.stride[0] + (from + at) * next;
#pragma unroll
                for (int j = 0; j < packet; ++j) values[i][j] = T(0.0f);
                if (row < count && tiles.vectors && at < k) {
                    auto const vector = *reinterpret_cast<Packet<T, packet> const*>(source);
#pragma unroll
                    for (int j = 0; j < packet; ++j) values[i][j] = vector.values[j];
                } else if (row < count) {
#pragma unroll
                    for (int j = 0; j < packet; ++j)
                        if (at + j < k) values[i][j] = source[j * next];
                }
            }
#pragma unroll
            for (int i = 0; i < of_thread; ++i) {
                unsigned const number = static_cast<unsigned>(i * threads) + thread;
                shared.filters[block].template put_along_k<packet>(number % packets * packet, number / packets,
                                                                   [&](int j) { return values[i][j]; });
            }
        }
        ptx::fence_proxy_async();
        __syncthreads();
    }

    /// acc += x w for the `count` k-blocks of a step from index `at` of the panel on. Calls load_next() while the MMAs
    /// are in flight.
    template <int count, class LoadNext>
    __device__ static void multiply(DynamicShared& shared, Loader& loader, int at, Accumulators& acc,
                                    LoadNext const& load_next) {
        Filters const& filters = shared.filters[at / Tiles::block];
        std::uint64_t const w = Atom::descriptor(ptx::shared_address(&filters)) +
                                static_cast<unsigned>(at % Tiles::block / Atom::k) * Atom::k_step;
        constexpr int terms = is_split ? 3 : 1, products = is_split ? 6 : 1;
        std::uint32_t words[terms][count][4];
#pragma unroll
        for (int k = 0; k < count; ++k) {
            if constexpr (is_split) {
#pragma unroll
                for (int term = 0; term < terms; ++term) take_bf16_term(loader.values[k], words[term][k]);
            } else {
                __builtin_memcpy(words[0][k], loader.values[k], sizeof words[0][k]);
            }
        }
        Accumulators step;
#pragma unroll
        for (int number = 0; number < products; ++number) {
            int const of_x = is_split ? bf16x6_term(number, 0) : 0;
            auto const of_w =
                static_cast<unsigned>(is_split ? bf16x6_term(number, 1) : 0) * Atom::row_offset(Tiles::filters);
            auto const a = [&](unsigned k, unsigned) -> auto const& { return words[of_x][k]; };  // (64, 16), registers
            auto const b = [&](unsigned k, unsigned) { return w + of_w + k * Atom::k_step; };  // (64, 16), swizzled
            mma::issue<Atom, count>(step, a, b, number > 0);  // (64, FILTERS) += over (COUNT, 16)
        }
        ptx::wgmma_commit();
        load_next();
        mma::wait(step);
        // The MMAs read operand a's registers until here. Fragments of half are the loaded values themselves: without
        // this use, nvcc's PTX had one virtual register for them and for the values that load_next() loads, and on an
        // H200 1x1 layers had other results in every run.
#pragma unroll
        for (int term = 0; term < terms; ++term)
#pragma unroll
            for (int k = 0; k < count; ++k) ptx::fence_operands(words[term][k]);
        mma::promote(acc, step);
    }

    /// Applies the epilogue to a tile and stores it. Eight lanes store 16 consecutive pixels of a channel.
    __device__ static void store(Params const& params, DynamicShared& shared, Accumulators const& acc, unsigned tile,
                                 int first, int count, unsigned thread) {
        Tiles const& tiles = params.tall_planes;
        Layout<4> const& layout = params.y.layout;
        unsigned const pixel = Loader::first_pixel(tile, thread);
        bool const exists[2] = {pixel < tiles.all_pixels, pixel + 1 < tiles.all_pixels};
        if (!exists[0]) return;
        T* const y = params.y.data + first * layout.stride[1] + tiles.offset_of(layout.stride[0], pixel);
        std::int64_t const second =
            tiles.pairs ? 1 : tiles.offset_of(layout.stride[0], pixel + 1) - tiles.offset_of(layout.stride[0], pixel);
#pragma unroll
        for (int e = 0; e < Atom::acc_per_thread; e += e % 4 == 0 ? 1 : 3) {
            int const k = Atom::column(static_cast<int>(thread), e);
            if (k >= count) continue;
            State state{};
            if constexpr (Epilogue::channelwise) state = shared.states[k].value();
            auto const result = [&](float sum) {
                return Epilogue::apply(sum, OutputCoord{0, first + k, 0, 0}, state, params.bound.epilogue);
            };
            float const low = result(acc[e]), high = result(acc[e + 2]);
            T* const to = y + k * layout.stride[1];
            if (tiles.pairs) {
                *reinterpret_cast<Packet<T, 2>*>(to) = {{T(low), T(high)}};
            } else {
                *to = T(low);
                if (exists[1]) to[second] = T(high);
            }
        }
    }
};

}  // namespace fusekit::hip
