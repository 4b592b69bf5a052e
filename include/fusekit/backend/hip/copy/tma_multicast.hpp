// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/copy/tma_im2col.hpp"

namespace fusekit::hip {

/// Consumers' view of the pipeline of a CTA that may be in a cluster of two whose CTAs load half of an operand into
/// both (BulkMaps::multicast): a stage is then empty when the consumers of both CTAs have released it.
template <class Pipeline, bool multicasts>
class ClusterPipeline {
public:
    /// `thread`: index of the thread in its warpgroup.
    __device__ ClusterPipeline(Pipeline const& the_pipeline, Multicast multicast, unsigned thread)
        : pipeline(the_pipeline),
          releases(multicast == Multicast::none ? 1 : 2),
          empty(ptx::shared_address(the_pipeline.empty)) {
        if (multicast != Multicast::none) empty = ptx::mapa(empty, thread % 2);
    }
    template <class State>
    __device__ void consumer_wait(State const& state) const {
        pipeline.consumer_wait(state);
    }
    __device__ void consumer_release(unsigned stage, unsigned thread) const {
        if (thread < releases)
            ptx::mbarrier_arrive_cluster(empty + stage * static_cast<std::uint32_t>(sizeof(std::uint64_t)));
    }

private:
    Pipeline const& pipeline;
    unsigned releases;
    std::uint32_t empty;  ///< shared::cluster address of the barriers that this thread arrives on
};

/// Consumers' view of the pipeline in a kernel without code for clusters.
template <class Pipeline>
class ClusterPipeline<Pipeline, false> {
public:
    __device__ ClusterPipeline(Pipeline const& the_pipeline, Multicast, unsigned) : pipeline(the_pipeline) {}
    template <class State>
    __device__ void consumer_wait(State const& state) const {
        pipeline.consumer_wait(state);
    }
    __device__ void consumer_release(unsigned stage, unsigned thread) const {
        pipeline.consumer_release(stage, thread);
    }

private:
    Pipeline const& pipeline;
};

/// Issues, in one thread, the TMA loads of x or w for the output tile at `tile`: half of the rows of the operand that
/// the cluster's two CTAs have in common, into both; all rows of the other one, and of the filters of a narrow last
/// column, into this CTA. Precondition: one group of channels, and at least TileM pixels.
template <class Params, class Problem, class Ring, class Pipeline, class State>
__device__ void load_tile_multicast(Params const& params, Problem const& conv, Ring& stages, Pipeline& pipeline,
                                    State& state, unsigned rank, bool loads_x, TileStart const& tile) {
    using Stage = std::remove_reference_t<decltype(stages[0])>;
    if ((params.maps.multicast == Multicast::x) != loads_x ||
        (!loads_x && params.maps.in_last_column(tile.n, conv.group_k())))
        return load_tile_in_bulk<true>(params, conv, stages, pipeline, state, {loads_x, !loads_x}, tile);
    constexpr unsigned both = 3;
    constexpr int half_of_x = Stage::tile_m / 2, half_of_w = Stage::rows_of_filters / 2;
    auto const filter = detail::window_filter(conv.filter);
    int const own_rank = static_cast<int>(rank), pixel = tile.m + own_rank * half_of_x,
              of_y = tile.n + own_rank * half_of_w;
    Pixel const first = conv.pixel(pixel);
    unsigned const bytes = loads_x ? Stage::bytes(0) : Stage::bytes(Stage::rows_of_filters, 0);
    int own[] = {conv.group_c(), conv.window_rows(), conv.window_columns(), params.maps.has_windows ? 1 : 0};
    ptx::fence_operands(own);
    int const channels = own[0], rows = own[1], columns = own[2];
    bool const has_windows = own[3] != 0;
    int const h = first.p * filter.strides[0] - filter.pad_before[0],
              w = first.q * filter.strides[1] - filter.pad_before[1];
    std::uint32_t const to =
        loads_x ? ptx::shared_address(stages[0].x) + rank * static_cast<unsigned>(half_of_x * Stage::row_bytes)
                : ptx::shared_address(stages[0].w) + rank * static_cast<unsigned>(half_of_w * Stage::row_bytes);
#pragma unroll 1
    for (int r = 0; r < rows; ++r)
#pragma unroll 1
        for (int s = 0; s < columns; ++s)
#pragma unroll 1
            for (int c = 0; c < channels; c += Stage::tile_k) {
                auto const full = pipeline.producer_acquire(state, bytes);
                std::uint32_t const at = to + state.stage * static_cast<unsigned>(sizeof(Stage));
                if (!loads_x) ptx::tma_load_multicast(at, &params.maps.w, full, {c, s, r, of_y}, both);
                else if (has_windows)
                    ptx::tma_load_im2col_multicast(at, &params.maps.x, full, {c, w, h, first.n},
                                                   static_cast<unsigned>(s * filter.dilations[1]),
                                                   static_cast<unsigned>(r * filter.dilations[0]), both);
                else ptx::tma_load_multicast(at, &params.maps.x, full, {c, pixel}, both);
                state.advance();
            }
}

}  // namespace fusekit::hip
