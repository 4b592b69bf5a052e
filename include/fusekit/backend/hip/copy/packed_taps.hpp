// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/async_copy.hpp"
#include "fusekit/backend/hip/copy/tma_im2col.hpp"

namespace fusekit::hip {

/// Producer of pipeline stages with packed k-tiles: GemmK is (R, S, C) without gaps, so that with few channels a k-tile
/// spans several taps, and only the last k-tile of a window is zero-padded. Each of the four producer warps copies a
/// quarter of the windows by cp.async, 16 bytes of a tap at a time. TMA loads the filters, which are contiguous along
/// GemmK. A stage is full when all warps have arrived and the filters' bytes have.
///
/// Preconditions (packs_taps()): C is a multiple of 16 bytes, pixels of x are at multiples of 16 bytes, x spans fewer
/// than 2^31 packets of 16 bytes, a filter has at most 32 taps, and these are contiguous.
template <class Stage, class Pipeline, int tile_m, int tile_n, int stages>
class PackedTaps {
    using State = typename Pipeline::State;
    static constexpr int row_bytes = Stage::row_bytes, packet = 16, packets = row_bytes / packet,
                         rows_at_once = 32 / packets, element_bytes = row_bytes / Stage::tile_k,
                         elements = packet / element_bytes;
    /// number of stages with copies in flight. Two fewer than the ring's: the consumer releases a stage only when the
    /// next one is full
    static constexpr int lag = (max)(stages - 2, 0);

public:
    static constexpr int warps = 4;
    static constexpr unsigned arrivals =
        warps + 1;  ///< arrivals per stage: one of each warp, and that of the thread that issues TMA

private:
    static constexpr int windows = tile_m / warps, filters = tile_n / warps;  // of a warp
    static constexpr int loads = windows / rows_at_once, batch = loads % 4 == 0 ? 4 : 3;
    static_assert(row_bytes == 128 && windows % 8 == 0 && filters % 8 == 0 && loads % batch == 0);

    /// Window of one SMEM row. `first`: index in x, in packets of 16 bytes, of channel 0 at the window's first tap.
    /// `taps`: bit i is set if tap i is in bounds of x.
    struct alignas(8) Source {
        std::int32_t first;
        std::uint32_t taps;
    };

public:
    struct Shared {
        Source sources[warps][windows];  ///< of the current output tile
    };

    /// `the_warp`: index of the producer warp, from 0 to 3. All lanes of the warps call all functions.
    __device__ PackedTaps(Shared& shared, unsigned the_warp, unsigned the_lane)
        : sources(shared.sources[the_warp]), warp(static_cast<int>(the_warp)), lane(static_cast<int>(the_lane)) {}

    /// Loads all k-tiles of the output tile at `tile`.
    template <class Params, class Problem>
    __device__ void load_tile(Params const& params, Problem const& conv, Stage* ring, Pipeline const& pipeline,
                              TileStart const& tile) {
        set_sources(conv, tile);
        ptx::bar_warp_sync();
        auto const filter = detail::window_filter(conv.filter);
        Index<4> const& stride = conv.x.layout.stride;
        int const channels = conv.group_c(), columns = conv.window_columns(),
                  end = static_cast<int>(conv.taps()) * channels, taps_of_step = Stage::tile_k / channels,
                  channels_of_step = Stage::tile_k - taps_of_step * channels,
                  down = static_cast<int>(stride[2] * filter.dilations[0] / elements),
                  right = static_cast<int>(stride[3] * filter.dilations[1] / elements);
        bool const is_last = params.maps.in_last_column(tile.n, conv.group_k());
        auto const* const map_w = is_last ? &params.maps.w_last : &params.maps.w;
        auto const bytes_of_filters =
            static_cast<unsigned>((is_last ? params.maps.last_filters : Stage::filters(conv.group_k())) * row_bytes);
        // this lane's packet of the k-tile: tap number `tap`, which is (r, s), and first channel c
        int tap = lane % packets * elements / channels, c = lane % packets * elements - tap * channels,
            r = tap / columns, s = tap - r * columns;
#pragma unroll 1
        for (int k = 0; k < end; k += Stage::tile_k) {
            pipeline.producer_acquire(state);
            Stage& stage = ring[state.stage];
            bool const is_whole = k + Stage::tile_k <= end;
            if (warp == 0 && lane == 0) {
                if (is_whole)
                    ptx::tma_load(ptx::shared_address(stage.w), map_w,
                                  pipeline.producer_expect_tx(state.stage, bytes_of_filters), {k, 0, 0, tile.n});
                else pipeline.producer_commit(state.stage);
            }
            copy_windows(stage, conv, tap, r * down + s * right + c / elements);
            if (!is_whole) copy_filters(stage, conv, tile.n, k, end);
            commit_copies();
            state.advance();
            if (++in_flight > lag) {
                pipeline.template producer_commit_copies<lag>(full, lane, [] {});
                --in_flight;
            }
            int const carry = (c += channels_of_step) >= channels ? 1 : 0;
            c -= carry * channels, tap += taps_of_step + carry, s += taps_of_step + carry;
            while (s >= columns) s -= columns, ++r;
        }
        ptx::bar_warp_sync();  // all lanes have read the sources, which the next tile overwrites
    }
    /// Commits all stages with copies in flight. Called after the last load_tile().
    __device__ void finish(Pipeline const& pipeline) {
        for (; in_flight > 0; --in_flight) pipeline.template producer_commit_copies<0>(full, lane, [] {});
    }

private:
    template <class Problem>
    __device__ void set_sources(Problem const& conv, TileStart const& tile) {
        auto const filter = detail::window_filter(conv.filter);
        Layout<4> const& x = conv.x.layout;
        int const height = static_cast<int>(x.shape[2]), width = static_cast<int>(x.shape[3]),
                  rows = conv.window_rows(), columns = conv.window_columns();
#pragma unroll 1
        for (int row = lane; row < windows; row += 32) {
            Pixel const at = conv.pixel(tile.m + warp * windows + row);
            int const h = at.p * filter.strides[0] - filter.pad_before[0],
                      w = at.q * filter.strides[1] - filter.pad_before[1];
            std::uint32_t of_row = 0, taps = 0;
#pragma unroll 1
            for (int s = columns - 1; s >= 0; --s) {
                bool const is_inside =
                    static_cast<unsigned>(w + s * filter.dilations[1]) < static_cast<unsigned>(width);
                of_row = of_row << 1 | static_cast<std::uint32_t>(is_inside);
            }
#pragma unroll 1
            for (int r = rows - 1; r >= 0; --r) {
                bool const is_inside =
                    static_cast<unsigned>(h + r * filter.dilations[0]) < static_cast<unsigned>(height);
                taps = (columns < 32 ? taps << columns : 0) | (is_inside ? of_row : 0);
            }
            std::int64_t const first = at.n * x.stride[0] + h * x.stride[2] + w * x.stride[3];
            sources[row] = {static_cast<std::int32_t>(first / elements), at.n < 0 ? 0 : taps};
        }
    }

    /// Copies this lane's packet of each of the warp's windows: the packet of tap `tap` that is `offset` packets after
    /// the window's first one. Zero-fills it if the tap is out of bounds of x or past the last tap.
    template <class Problem>
    __device__ void copy_windows(Stage& stage, Problem const& conv, int tap, int offset) const {
        auto const* const x = reinterpret_cast<unsigned char const*>(conv.x.data);
        int const row = lane / packets, at = (lane % packets ^ row) * packet;
        std::uint32_t const bit = tap < 32 ? std::uint32_t{1} << tap : 0;
        auto* const to = reinterpret_cast<unsigned char*>(stage.x) + (warp * windows + row) * row_bytes;
#pragma unroll
        for (int first = 0; first < loads; first += batch) {
            Source loaded[batch];
#pragma unroll
            for (int i = 0; i < batch; ++i) loaded[i] = sources[(first + i) * rows_at_once + row];
#pragma unroll
            for (int i = 0; i < batch; ++i) {
                // 128-byte swizzle: chunk XOR row % 8; `at` has the low two bits of the row, `below` % 8 the third
                int const below = (first + i) * rows_at_once;
                copy_async<packet>(to + below * row_bytes + (at ^ below % 8 * packet),
                                   x + std::int64_t{loaded[i].first + offset} * packet, (loaded[i].taps & bit) != 0);
            }
        }
    }

    /// Copies this lane's packet of each of the warp's filters in the last k-tile, zero-filled past the end of GemmK.
    /// cp.async instead of TMA, which on an H200 takes up to 24 cycles for each row that is partly out of bounds.
    template <class Problem>
    __device__ void copy_filters(Stage& stage, Problem const& conv, int first, int k, int end) const {
        int const at = lane % packets * packet, begin = warp * filters,
                  count = (min)(filters, conv.group_k() - first - begin);
        auto const* const from = reinterpret_cast<unsigned char const*>(conv.w.data) + k * element_bytes + at;
        auto* const to = reinterpret_cast<unsigned char*>(stage.w) + begin * row_bytes;
        std::int64_t const pitch = conv.w.layout.stride[0] * element_bytes;
        bool const exists = k * element_bytes + at < end * element_bytes;
#pragma unroll 2
        for (int row = lane / packets; row < count; row += rows_at_once)
            copy_async<packet>(to + row * row_bytes + (at ^ row % 8 * packet), from + (first + begin + row) * pitch,
                               exists);
    }

    Source* sources;
    int warp, lane, in_flight = 0;
    State state, full;
};

}  // namespace fusekit::hip
