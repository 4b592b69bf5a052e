// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/async_copy.hpp"
#include "fusekit/backend/hip/copy/tma_im2col.hpp"

namespace fusekit::hip {

/// Source of one SMEM row of an operand tile, which is a window of x or a filter: address of channel 0 at its first
/// tap, and row and column of this tap in x. The tap may be in the padding; the address is then not read.
struct alignas(16) RowSource {
    unsigned char const* first;
    std::int32_t h, w;
};

/// Producer of pipeline stages from x and filters that are misaligned for TMA: the four producer warps copy the
/// channels of each window and filter by cp.async, 8 or 4 bytes at a time, to the swizzled rows that TMA would write,
/// with zeros in the padding and past the last channel. cp.async needs 4-byte alignment: a row that begins in the
/// middle of a word is copied from 2 bytes before its first channel, and shifted by 2 bytes in SMEM when the copies
/// have completed. Each warp copies a quarter of the rows of both operands. It commits a stage (arrives on its "full"
/// mbarrier) `lag` stages after it has issued the stage's copies.
template <class Stage, class Pipeline, int tile_m, int tile_n, int stages>
class CopiedRows {
    using State = typename Pipeline::State;
    static constexpr int windows = tile_m / 4, filters = tile_n / 4, row_bytes = 128;
    static constexpr unsigned lag = stages >= 6 ? 2 : stages >= 3 ? 1 : 0;
    static_assert(Stage::row_bytes == row_bytes && windows % 8 == 0 && filters % 8 == 0);

public:
    static constexpr unsigned warps = 4;  ///< producer warps; each arrives once per stage

private:
    /// Per row of a warp in a stage: is_early is nonzero if the row is copied from 2 bytes before its first channel.
    /// The row's last channel then does not fit, and is copied to the low half of `words`.
    struct Tails {
        std::uint32_t words[windows + filters];
        unsigned char is_early[windows + filters];
    };

    /// One operand. From one tap to the next row or column of taps: bytes in memory (row_bytes, column_bytes), and
    /// pixels of x (down, right; 0 for filters). Taps outside `height` x `width` are padding.
    struct Operand {
        std::int64_t row_bytes, column_bytes;
        int down, right, height, width;
    };

public:
    /// SMEM of the producer warps: each warp's sources for the current output tile, its operands, and the tails of each
    /// stage.
    struct Shared {
        RowSource sources[warps][windows + filters];
        Operand operands[warps][2];
        Tails tails[warps][stages];
    };

    /// `the_warp`: index of the producer warp, from 0 to 3. `the_width`: alignment of all rows, 8, 4 or 2 bytes. All
    /// lanes of the warps call all functions.
    template <class Problem>
    __device__ CopiedRows(Shared& shared, Problem const& conv, int the_width, unsigned the_warp, unsigned the_lane)
        : sources(shared.sources[the_warp]),
          operands(shared.operands[the_warp]),
          tails(shared.tails[the_warp]),
          warp(static_cast<int>(the_warp)),
          lane(static_cast<int>(the_lane)),
          width(the_width) {
        if (lane > 0) return;
        auto const filter = detail::window_filter(conv.filter);
        Layout<4> const &of_x = conv.x.layout, &of_w = conv.w.layout;
        operands[0] = {of_x.stride[2] * filter.dilations[0] * element_bytes,
                       of_x.stride[3] * filter.dilations[1] * element_bytes,
                       filter.dilations[0],
                       filter.dilations[1],
                       static_cast<int>(of_x.shape[2]),
                       static_cast<int>(of_x.shape[3])};
        operands[1] = {of_w.stride[2] * element_bytes, of_w.stride[3] * element_bytes, 0, 0, 1, 1};
    }

    /// Loads k-tiles [begin, end) of the output tile at `tile`. If the tile `is_last`, waits for all copies and commits
    /// all stages.
    template <class Problem>
    __device__ void load_tile(Problem const& conv, Stage* ring, Pipeline const& pipeline, TileStart const& tile,
                              StepRange const& steps, bool is_last) {
        set_sources(conv, tile);
        ptx::bar_warp_sync();
        int const channels = conv.group_c(), columns = conv.window_columns();
        unsigned const of_tap = static_cast<unsigned>(detail::divide_up(channels, Stage::tile_k)),
                       end = steps.end + (is_last ? lag : 0u);
        int const tap = static_cast<int>(steps.begin / of_tap);
        int r = tap / columns, s = tap % columns, c = static_cast<int>(steps.begin % of_tap) * Stage::tile_k;
#pragma unroll 1
        for (unsigned step = steps.begin; step < end; ++step) {
            if (step < steps.end) {
                pipeline.producer_acquire(state);
#pragma unroll 1
                for (int i = 0; i < 2; ++i) {
                    Stage& stage = ring[state.stage];
                    auto* const to = reinterpret_cast<unsigned char*>(i == 0 ? stage.x : stage.w) +
                                     warp * (i == 0 ? windows : filters) * row_bytes;
                    int const count = i == 0 ? windows : (min)(filters, conv.group_k() - tile.n - warp * filters);
                    if (width == 8) copy_rows<8>(to, i, r, s, c, channels, count);
                    else if (width == 4) copy_rows<4>(to, i, r, s, c, channels, count);
                    else copy_rows<2>(to, i, r, s, c, channels, count);
                }
                state.advance();
                if ((c += Stage::tile_k) >= channels) {
                    c = 0;
                    if (++s == columns) s = 0, ++r;
                }
            }
            commit_copies();
            if (++commits > lag)
                pipeline.template producer_commit_copies<lag>(full, lane, [&] {
                    if (width != 2) return;
                    ptx::bar_warp_sync();
                    move_rows(ring[full.stage], tails[full.stage]);
                });
        }
        ptx::bar_warp_sync();  // all lanes have read the sources, which the next tile overwrites
    }

private:
    static constexpr int element_bytes = row_bytes / Stage::tile_k;

    template <class Problem>
    __device__ void set_sources(Problem const& conv, TileStart const& tile) {
        auto const filter = detail::window_filter(conv.filter);
        auto const address = [](auto const* data, std::int64_t offset) {
            return reinterpret_cast<unsigned char const*>(data) + offset * element_bytes;
        };
#pragma unroll 1
        for (int row = lane; row < windows; row += 32) {
            Pixel const at = conv.pixel(tile.m + warp * windows + row);
            int const h = at.p * filter.strides[0] - filter.pad_before[0],
                      w = at.q * filter.strides[1] - filter.pad_before[1];
            Index<4> const& stride = conv.x.layout.stride;
            sources[row] = {address(conv.x.data, at.n * stride[0] + h * stride[2] + w * stride[3]),
                            at.n < 0 ? no_row : h, w};
        }
#pragma unroll 1
        for (int row = lane; row < filters; row += 32) {
            int const n = tile.n + warp * filters + row;
            sources[windows + row] = {address(conv.w.data, n * conv.w.layout.stride[0]),
                                      n < conv.group_k() ? 0 : no_row, 0};
        }
    }

    /// Copies the channels from `c` on, at tap (r, s), of the first `count` rows of operand `number` to the warp's SMEM
    /// rows at `to`. Rows are aligned to `bytes` bytes. `count` is rounded up to a whole group of rows.
    template <int bytes>
    __device__ void copy_rows(unsigned char* to, int number, int r, int s, int c, int channels, int count) const {
        constexpr int word = bytes == 2 ? 4 : bytes, lanes_of_row = row_bytes / word, rows_at_once = 32 / lanes_of_row;
        Operand const operand = operands[number];
        int const in_row = lane % lanes_of_row * word, end = (channels - c) * element_bytes, down = r * operand.down,
                  right = s * operand.right;
        std::int64_t const offset = r * operand.row_bytes + s * operand.column_bytes + c * element_bytes;
#pragma unroll 1
        for (int first = lane / lanes_of_row; first < count; first += 4 * rows_at_once)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                int const row = first + i * rows_at_once, of_warp = number == 0 ? row : windows + row;
                RowSource const source = sources[of_warp];
                bool const is_inside = static_cast<unsigned>(source.h + down) < static_cast<unsigned>(operand.height) &&
                                       static_cast<unsigned>(source.w + right) < static_cast<unsigned>(operand.width);
                unsigned char const* const from = source.first + offset;
                unsigned char* const to_word = to + row * row_bytes + (in_row ^ row % 8 * 16);
                if constexpr (bytes > 2) {
                    copy_async<word>(to_word, from + in_row, is_inside && in_row < end);
                } else {
                    int const early = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) % word);
                    auto const copy = [&](void* to_4, int at) {
                        int const remaining = is_inside ? (max)(end - at, 0) : 0;
                        copy_async_first<word>(to_4, from + at, (min)(remaining, word));
                    };
                    copy(to_word, in_row - early);
                    if (lane > 0) continue;
                    Tails& of_stage = tails[state.stage];
                    of_stage.is_early[of_warp] = static_cast<unsigned char>(early);
                    if (early > 0) copy(&of_stage.words[of_warp], row_bytes - early);
                }
            }
    }

    /// Shifts the rows of a stage that were copied from 2 bytes before their first channel.
    __device__ void move_rows(Stage& stage, Tails const& of_stage) const {
        using Words = Packet<std::uint32_t, 2>;
        constexpr int at_once = 8, pairs = at_once / 2;
        int const at = lane % 16 * 8;
#pragma unroll 1
        for (int first = 0; first < windows + filters; first += at_once) {
            unsigned char* const rows =
                first < windows
                    ? reinterpret_cast<unsigned char*>(stage.x) + (warp * windows + first) * row_bytes
                    : reinterpret_cast<unsigned char*>(stage.w) + (warp * filters + first - windows) * row_bytes;
            auto const address = [&](int row, int byte) { return rows + row * row_bytes + (byte ^ row * 16); };
            Words words[pairs];
            std::uint32_t next[pairs];
#pragma unroll
            for (int i = 0; i < pairs; ++i) {
                int const row = 2 * i + lane / 16;
                words[i] = *reinterpret_cast<Words const*>(address(row, at));
                next[i] = at + 8 < row_bytes ? *reinterpret_cast<std::uint32_t const*>(address(row, at + 8))
                                             : of_stage.words[first + row];
            }
            ptx::bar_warp_sync();  // all lanes have loaded the words that others store
#pragma unroll
            for (int i = 0; i < pairs; ++i) {
                int const row = 2 * i + lane / 16;
                std::uint32_t const low = words[i].values[0], high = words[i].values[1];
                if (of_stage.is_early[first + row])
                    *reinterpret_cast<Words*>(address(row, at)) = {
                        {low >> 16 | high << 16, high >> 16 | next[i] << 16}};
            }
        }
    }

    static constexpr int no_row = -(1 << 30);  ///< row of a window past the last pixel

    RowSource* sources;
    Operand* operands;
    Tails* tails;
    int warp, lane, width;
    unsigned commits = 0;  ///< groups of copies, one of each stage and `lag` empty ones at the end
    State state, full;
};

/// Type: CopiedRows if `enabled`; otherwise an empty type with an empty Shared.
template <bool enabled>
struct CopiedRowsIf {
    template <class Stage, class Pipeline, int tile_m, int tile_n, int stages>
    using Type = CopiedRows<Stage, Pipeline, tile_m, tile_n, stages>;
};
template <>
struct CopiedRowsIf<false> {
    struct NoRows {
        struct Shared {};
    };
    template <class, class, int, int, int>
    using Type = NoRows;
};

}  // namespace fusekit::hip
