// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/collective/grouped_warp.hpp"
#include "fusekit/backend/hip/copy/grouped_fragments.hpp"
#include "fusekit/backend/hip/mainloop/warp_roles.hpp"
#include "fusekit/backend/hip/offset_coord.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"

namespace fusekit::hip {

/// Convolution with several groups of channels, or its gradient by x, by mma.sync on sm_90a: 3 x 3 taps, stride 1 or 2,
/// groups of 4 to 64 channels of x and of y. A CTA keeps the filters of its channels in SMEM and computes every n-th
/// tile of pixels; TMA loads the pixels of x of the next tile meanwhile, and stores y. GemmM are 16 runs of 7 pixels of
/// a row of y, GemmN 8 filters: for each row of the filter a warp loads each pixel of a run's windows once, as the
/// fragment of A of several taps and of all pixels of the run. A gradient by x through a stride has 2 x 2 phases of y,
/// one after the other, whose windows are in the same box of x; a run has every second pixel of a row of y.
template <class Plan, class Schedule, Element T, Element U>
class GroupedTmaConv : public TmaKernel {
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    using Tile = GroupedTmaTile;
    static constexpr int length = Tile::run, filters_per_warp = Tile::filters_per_warp;
    using Warp = GroupedWarp<T, typename ConvParams<Plan, T, U>::Geometry>;
    using Accumulators = typename Warp::Accumulators;
    static constexpr int phases = detail::spreads<typename ConvParams<Plan, T, U>::Geometry> ? 2 : 1;
    static_assert(sizeof(T) == 2 && sizeof(U) == 2);
    /// True if operators need a pixel's coordinates, or must not see values of pixels that y does not have.
    static constexpr bool needs_coord =
        Epilogue::located || Epilogue::per_pixel || Epilogue::stores || Epilogue::maxima > 0;

public:
    static constexpr bool spreads = detail::spreads<typename ConvParams<Plan, T, U>::Geometry>,
                          is_gradient = detail::is_transposed<typename ConvParams<Plan, T, U>::Geometry>;
    static constexpr int threads = 256, blocks = 2;  ///< a launch may have fewer threads (GroupedTmaTile::warps)
    using Architecture = arch::Sm90a;
    using Params = ConvParams<Plan, T, U>;
    /// Stages of x, the tile of y and the filters. A launch requests only the bytes of its tile.
    struct DynamicShared {
        alignas(1024) TmaStages<Tile::max_stages> stages;
        alignas(1024) unsigned char bytes[Tile::max_shared_bytes];
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        GroupedTmaTiles const& tiles = params.grouped_tma;
        Tile const& tile = tiles.tile;
        auto const conv = params.problem();
        Filter<2> const window = grouped_window(conv.filter);
        unsigned const first = tiles.channel_blocks.divide(block), step = tiles.channel_blocks.divide(gridDim.x);
        int const k = static_cast<int>(block - first * tiles.channel_blocks.value()) * tile.channels;
        auto const at_x = ptx::shared_address(shared.bytes),
                   at_y = at_x + static_cast<unsigned>(tile.stages * tile.stage_bytes());
        unsigned char* const filters = shared.bytes + tile.stages * tile.stage_bytes() + tile.y_bytes();
        auto const load = [&](unsigned number, unsigned stage) {
            At const at(tiles, number);
            auto const full = shared.stages.producer_expect_tx(stage, static_cast<unsigned>(tile.box_bytes()));
            ptx::tma_load(at_x + stage * static_cast<unsigned>(tile.stage_bytes()), &maps_of(params).x, full,
                          {k, at.q * window.strides[1] - window.pad_before[1],
                           at.p * window.strides[0] - window.pad_before[0], at.n});
        };
        begin(thread, [&] {
            shared.stages.init();
            ptx::fence_mbarrier_init();
        });
        auto const stages = static_cast<unsigned>(tile.stages), ahead = stages > 1 ? stages - 1 : 1;
        if (thread == 0)
            for (unsigned i = 0; i < ahead && first + i * step < tiles.count; ++i) load(first + i * step, i);
        GroupedFragments<T>::store(tiles, conv, k, filters, thread);
        auto const in_tile = static_cast<unsigned>(tile.channels / filters_per_warp);
        unsigned const warp = ptx::warp_uniform(thread / 32), lane = thread % 32, item = warp % in_tile;
        Warp const of{tiles,
                      conv.filter,
                      window.strides[0],
                      k + static_cast<int>(item) * filters_per_warp,
                      static_cast<unsigned>(tile.box_columns * tile.pixel_bytes()),
                      filters + item * static_cast<unsigned>(tile.warp_filter_bytes()),
                      lane,
                      k};
        State states[2][2];
        if constexpr (Epilogue::channelwise) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                int const channel = of.first + i / 2 * 8 + static_cast<int>(lane % 4) * 2 + i % 2,
                          last = static_cast<int>(params.y.layout.shape[1]) - 1;
                states[i / 2][i % 2] = Epilogue::prepare(std::int64_t{(min)(channel, last)}, params.bound.epilogue);
            }
        }
        wait_for_copies();
        unsigned stage = 0, phase = 0;
#pragma unroll 1
        for (unsigned number = first; number < tiles.count; number += step) {
            bool const is_last = step >= tiles.count - number;
            if (thread == 0) {
                if (stages > 1 && tiles.count - number > ahead * step)
                    load(number + ahead * step, stage > 0 ? stage - 1 : stages - 1);
                ptx::bulk_wait_group_read();
            }
            if (is_last) start_next_kernel();
            shared.stages.consumer_wait(stage, phase);
            __syncthreads();  // all filters are in SMEM, and y's SMEM may be overwritten
            At const at(tiles, number);
            auto const from = at_x + stage * static_cast<unsigned>(tile.stage_bytes());
            if (of.first < static_cast<int>(params.y.layout.shape[1])) {
#pragma unroll 1
                for (int i = static_cast<int>(warp / in_tile) * 16; i < tile.runs();
                     i += tile.warps / static_cast<int>(in_tile) * 16) {
                    GroupedRun const mine(tiles, i + static_cast<int>(lane % 16));
                    unsigned const chunk = static_cast<unsigned>(of.first - k) * 2 + lane / 16 * 16;
                    auto const x = from + chunk +
                                   static_cast<unsigned>(mine.box_pixel(tile, of.stride)) *
                                       static_cast<unsigned>(tile.pixel_bytes());
#pragma unroll 1
                    for (int number_of_phase = 0; number_of_phase < phases * phases; ++number_of_phase) {
                        PerMode<2> const of_phase{number_of_phase / phases, number_of_phase % phases};
                        GroupedPhase const taps = grouped_phase(conv.filter, of_phase);
                        Accumulators acc = {};
                        multiply(of, acc, x, taps);
                        if (tile.group < 8 && !Warp::is_finite(acc)) {
                            of.recompute_infinite(acc, conv, taps, shared.bytes + (from - at_x), i);
                        }
                        store(params, of, at, of_phase, states, acc, i,
                              at_y + chunk +
                                  static_cast<unsigned>(mine.pixel(tile, of_phase.h, of_phase.w) * tile.pixel_bytes()));
                    }
                }
            }
            ptx::fence_proxy_async();
            __syncthreads();
            if (thread == 0) {
                ptx::tma_store(&maps_of(params).y, at_y, {k, at.q * phases, at.p * phases, at.n});
                ptx::bulk_commit_group();
                if (!is_last && stages == 1) load(number + step, 0);
            }
            if (++stage == stages) stage = 0, phase ^= 1;
        }
        if (thread == 0) ptx::bulk_wait_group_read();
    }

private:
    __device__ static auto const& maps_of(Params const& params) {
        if constexpr (spreads) return params.maps.phases[0];
        else return params.maps;
    }

    __device__ static void multiply(Warp const& of, Accumulators& acc, std::uint32_t x, GroupedPhase const& taps) {
        bool const is_pair = of.tiles.tile.group < 16;
        if constexpr (spreads) {
            if (taps.count.w == 2)
                is_pair ? of.template multiply_phase<true, 2>(acc, x, taps)
                        : of.template multiply_phase<false, 2>(acc, x, taps);
            else
                is_pair ? of.template multiply_phase<true, 1>(acc, x, taps)
                        : of.template multiply_phase<false, 1>(acc, x, taps);
        } else if (of.stride == 1) {
            is_pair ? of.template multiply<true, 1>(acc, x) : of.template multiply<false, 1>(acc, x);
        } else {
            is_pair ? of.template multiply<true, 2>(acc, x) : of.template multiply<false, 2>(acc, x);
        }
    }

    /// First pixel of a tile, of each phase.
    struct At {
        int n, p, q;

        __device__ At(GroupedTmaTiles const& tiles, unsigned number) {
            unsigned const a = tiles.across.divide(number), image = tiles.down.divide(a);
            n = static_cast<int>(image) * tiles.tile.images;
            p = static_cast<int>(a - image * tiles.down.value()) * tiles.tile.rows;
            q = static_cast<int>(number - a * tiles.across.value()) * tiles.tile.columns;
        }
    };

    /// Applies the operators to the accumulators of 16 runs of a phase from run `first_run` on and stages the results
    /// at `to`, the lane's address of the first pixel of a run.
    __device__ static void store(Params const& params, Warp const& of, At const& at, PerMode<2> const& phase,
                                 State const (&states)[2][2], Accumulators const& acc, int first_run,
                                 std::uint32_t to) {
        Index<4> const &shape = params.y.layout.shape, &stride = params.y.layout.stride;
        int n[2] = {}, p[2] = {}, q[2] = {}, count[2] = {length, length};
        if constexpr (needs_coord) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                int const number = first_run + static_cast<int>(of.lane / 4) + 8 * half;
                GroupedRun const each(of.tiles, number);
                n[half] = at.n + each.image, p[half] = (at.p + each.row) * phases + phase.h;
                q[half] = (at.q + each.column) * phases + phase.w;
                bool const exists = n[half] < static_cast<int>(shape[0]) && p[half] < static_cast<int>(shape[2]);
                count[half] = exists ? (static_cast<int>(shape[3]) - q[half] + phases - 1) / phases : 0;
            }
        }
        int const lane_k = of.first + static_cast<int>(of.lane % 4) * 2;
        auto const pixel_bytes = static_cast<unsigned>(of.tiles.tile.pixel_bytes());
#pragma unroll
        for (int m = 0; m < length; ++m) {
            std::uint32_t words[4] = {};
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                int const block = i / 2, half = i % 2, k = lane_k + 8 * block;
                if (needs_coord && (m >= count[half] || k >= static_cast<int>(shape[1]))) continue;
                auto const value = [&](int e) {
                    int const column = q[half] + m * phases;
                    OffsetCoord const coord({n[half], k + e, p[half], column},
                                            p[half] * stride[2] + column * stride[3] + k + e, stride);
                    return Epilogue::apply(acc[m][block][2 * half + e], coord, states[block][e], params.bound.epilogue);
                };
                float const even = value(0), odd = value(1);
                words[i] = packed<U>(even, odd);
            }
            converge_warp();
            ptx::stmatrix_x4<false>(swizzled_address(to + static_cast<unsigned>(m * phases) * pixel_bytes, of.mask()),
                                    words);
        }
    }
};

}  // namespace fusekit::hip
