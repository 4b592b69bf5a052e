// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/gemm_panel.hpp"
#include "fusekit/backend/host/lane_coord.hpp"
#include "fusekit/backend/host/pack.hpp"
#include "fusekit/backend/host/panel_store.hpp"
#include "fusekit/backend/host/pixel_rows.hpp"
#include "fusekit/backend/host/tile_totals.hpp"
#include "fusekit/backend/host/tiling.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// Implicit GEMM with output channels along the lanes of a register tile and pixels along its rows; for channels-last
/// outputs.
///
/// Filters are packed once per run into panels of GemmK x panel_columns or fewer; the last of a group has as many
/// vectors as its filters need. Groups of channels that share the addresses of pixels are in one work item. A row of a
/// register tile is the window of one pixel, read in place from x or packed once and read by all panels (PixelRows).
///
/// Also used, for any layout of y, if windows of adjacent pixels are not a constant column step apart in x (a strided
/// transposed convolution), and if a 2 x 2 Pool follows: then pixels are ordered by window, the results of a work item
/// stay in its thread's scratch as floats, and every four rows reduce to one output.
template <class Epilogue, Element T, detail::OutputElement U, int Space, class Pool = void, Element W = T,
          class Groups = problem::ChannelGroups, class Geometry = Filter<Space>>
class ConvChannelLanes {
    using Problem = ConvProblem<T, Space, W, Groups, Geometry>;

public:
    static constexpr char const* name = "ConvChannelLanes";

    ConvChannelLanes(int the_threads, Problem const& the_conv, typename Epilogue::Args const& the_args,
                     TensorView<U> const& the_y)
        : threads(the_threads), conv(the_conv), args(the_args), y(the_y) {}

    std::int64_t scratch_floats() const { return weight_floats + zeros + state_floats + threads * thread_floats; }

    void run(Device::RunContext& context) {
        weights = reinterpret_cast<Acc*>(context.scratch(scratch_floats()));
        zero = weights + weight_floats;
        states = reinterpret_cast<Panel*>(zero + zeros);
        Acc* const thread_scratch = zero + zeros + state_floats;
        if (context.packs()) {
            fill_zero(zero, zeros);
            context.parallel_for(conv.groups() * panels, [this](std::int64_t item, int) { prepare(item); });
        }
        if (context.only_packs()) return;
        context.parallel_for(detail::divide_up(tiles, block) * group_blocks, [=, this](std::int64_t item, int thread) {
            Acc* const scratch = thread_scratch + thread * thread_floats;
            Item const work{item % group_blocks * group_block,
                            item / group_blocks * block,
                            (min)(block, tiles - item / group_blocks * block),
                            reinterpret_cast<KRange<Acc>*>(scratch),
                            reinterpret_cast<Row*>(scratch + k_range_floats),
                            scratch + k_range_floats + row_floats,
                            reinterpret_cast<float*>(scratch + thread_floats - result_floats)};
            gather(work);
            std::int64_t const work_panels = (min)(group_block, conv.groups() - work.group) * panels;
            for (std::int64_t panel0 = 0; panel0 < work_panels; panel0 += panel_block) {
                std::int64_t const end = (min)(panel0 + panel_block, work_panels);
                Part part{0, panel0 == 0 ? 1.0f / static_cast<float>(end) : 0.0f};
                std::int64_t const at_once = end == panel0 + 1 ? work.count : tiles_at_once;
                for (std::int64_t t = 0; t < work.count; t += at_once)
                    for (part.number = 0; part.number < end - panel0; ++part.number)
                        multiply(work, t, (min)(t + at_once, work.count), panel0 + part.number, part);
            }
            if constexpr (pools)
                store_pooled<Pool>(y, work.rows, (min)(work.count * tile_rows, conv.gemm_m() - work.first * tile_rows),
                                   states + work.group * panels, panels, work.results, padded_k, args);
        });
        if constexpr (Epilogue::collects) totals().save(context);
    }

private:
    using Acc = detail::AccumulatorOf<T>;
    using Panel = FilterPanel<Epilogue>;
    using Row = OutputRow<U>;
    static constexpr bool pools = !std::is_void_v<Pool>;
    /// True if results depend on channels alone, and if a block applies the epilogue to accumulators in registers.
    static constexpr bool of_channels_alone = !pools && !Epilogue::collects && !Epilogue::pixelwise;
    static constexpr bool fuses = of_channels_alone && std::same_as<U, float>;
    /// The number of tiles in a work item is a multiple of this: with pooling, tiles that hold whole windows; with
    /// statistics, all tiles of one statistics total.
    static constexpr std::int64_t tiles_per_total = Epilogue::collects ? detail::divide_up(total_pixels, tile_rows)
                                                    : pools            ? 2
                                                                       : 1;

    /// A work item of parallel_for: `count` register tiles from number `first` on, in up to group_block groups of
    /// channels from `group` on.
    struct Item {
        std::int64_t group, first, count;
        KRange<Acc>* k_ranges;  // (count, k_ranges_per_tile)
        Row* rows;  // (count, tile_rows)
        Acc* packed;  // (count, tile_rows, row_stride)
        float* results;  // (count, tile_rows, padded_k), input of the pool
    };

    int const threads;
    Problem const& conv;
    typename Epilogue::Args const& args;
    TensorView<U> const& y;

    std::int64_t const gemm_k = conv.gemm_k(), group_k = conv.group_k(), padded_k = round_up(group_k, lanes);
    std::int64_t const columns = columns_of_panel(gemm_k), panels = detail::divide_up(group_k, columns),
                       panel_floats = gemm_k * columns;
    std::int64_t const tiles = detail::divide_up(conv.gemm_m(), tile_rows);
    float const of_gemm_k = 1.0f / static_cast<float>((max)(1, gemm_k));
    PixelRows<Problem, T> const pixel_rows{conv, panels};
    std::int64_t const k_ranges_per_tile = pixel_rows.ranges(), row_stride = pixel_rows.packed_floats();
    /// Groups per work item: all, but with several threads fewer if there are few tiles.
    bool const shares = pixel_rows.are_shared() && !pools;
    std::int64_t const wanted_blocks = shares && threads > 1
                                           ? clamp(4 * threads / (max)(1, tiles / 4), 1, conv.groups())
                                           : std::int64_t{1};
    std::int64_t const group_block = shares ? detail::divide_up(conv.groups(), wanted_blocks) : std::int64_t{1};
    std::int64_t const group_blocks = detail::divide_up(conv.groups(), (max)(1, group_block));
    std::int64_t const row_bytes = group_block * pixel_rows.floats() * tile_rows * std::int64_t{sizeof(float)};
    std::int64_t const fitting = tiles_per_item(tiles, clamp(conv_item_bytes / row_bytes, 4, 32), threads);
    std::int64_t const block = round_up(fitting, tiles_per_total);
    static_assert(2 * tile_rows % 4 == 0);
    std::int64_t const k_range_floats = round_up(block * k_ranges_per_tile * std::int64_t{sizeof(KRange<Acc>)}, 64) / 4;
    std::int64_t const row_floats = round_up(block * tile_rows * std::int64_t{sizeof(Row)}, 64) / 4;
    std::int64_t const result_floats = pools ? block * tile_rows * padded_k : 0;
    std::int64_t const thread_floats = k_range_floats + row_floats + block * tile_rows * row_stride + result_floats;
    /// Tiles that a panel is multiplied by before the next panel: their windows fit a part of L1.
    std::int64_t const tiles_at_once = clamp(8192 / (tile_rows * std::int64_t{sizeof(float)} * (max)(1, gemm_k)), 1, 4);
    std::int64_t const panel_block = (max)(1, panel_bytes / (max)(1, panel_floats* std::int64_t{sizeof(float)}));
    std::int64_t const zeros = pixel_rows.zeros(), group_floats = gemm_k * padded_k,
                       weight_floats = conv.groups() * group_floats;
    std::int64_t const state_floats = round_up(conv.groups() * panels * std::int64_t{sizeof(Panel)}, 64) / 4;
    Acc* weights = nullptr;  // (groups, panels, gemm_k, up to columns): packed filters
    Acc* zero = nullptr;  // (zeros): read for taps outside x
    Panel* states = nullptr;  // (groups, panels)

    void prepare(std::int64_t item) const {
        std::int64_t const group = item / panels, first = conv.first_k(group), in_group = item % panels * columns,
                           k0 = first + in_group, k_end = first + group_k;
        Panel& own = states[item];
        own.vectors = static_cast<int>((min)(columns, padded_k - in_group) / lanes);
        own.filters = group * group_floats + item % panels * panel_floats;
        own.offset = shares ? pixel_rows.offset_of(group) : 0;
        Acc* const filters = weights + own.filters;
        pack_weight_panel(filters, conv, group, in_group, own.vectors);
        own.is_finite = are_finite(filters, gemm_k * own.vectors * lanes);
        own.k0 = k0;
        for (int j = 0; j < panel_vectors; ++j) {
            int const used = j < own.vectors ? static_cast<int>(clamp(k_end - (k0 + j * lanes), 0, lanes)) : 0;
            own.used[j] = used;
            if (used) own.state[j] = Epilogue::template prepare_lanes<Vector>(k0 + j * lanes, used, args);
        }
    }

    /// Sets the pixels of the rows of an item's tiles, their addresses in y, and those of their windows. Rows past the
    /// last pixel repeat the last.
    void gather(Item const& work) const {
        std::int64_t const first = work.first * tile_rows, last = conv.gemm_m() - 1, count = work.count * tile_rows;
        std::int64_t const y_step = y.layout.stride[3];
        if constexpr (!pools && !Epilogue::collects && !Epilogue::pixelwise)
            if (pixel_rows.are_linear() && problem::pixels_are_equidistant(y.layout)) {  // no coordinates are read
                for (std::int64_t r = 0; r < count; ++r) work.rows[r].y = y.data + (min)(first + r, last) * y_step;
                return pixel_rows.gather_linear(work.k_ranges, count, shares ? 0 : work.group, first, last);
            }
        Pixel at = conv.pixel(first, work.group);
        U* to = pools ? nullptr : &y(at.n, 0, at.p, at.q);
        for (std::int64_t r = 0; r < count;) {
            if (!pools && r + tile_rows <= count && first + r + tile_rows <= last && at.q + tile_rows < conv.y[3]) {
                for (int i = 0; i < tile_rows; ++i, ++at.q, to += y_step) work.rows[r + i] = {at, to};
                r += tile_rows;
                continue;
            }
            if constexpr (pools) at = conv.pixel_of_windows((min)(first + r, last));
            work.rows[r++] = {at, to};
            if (pools || first + r > last) continue;
            at = conv.next(at);
            to = at.q == 0 ? &y(at.n, 0, at.p, 0) : to + y_step;
        }
        pixel_rows.gather(work.k_ranges, count, shares ? 0 : work.group, work.packed, zero,
                          [&](std::int64_t row) -> Pixel const& { return work.rows[row].at; });
    }

    /// Multiplies tiles t ... end - 1 of an item by panel number `panel` of its groups, and finishes the results. Each
    /// tile prefetches a part of the next tile's pixels.
    void multiply(Item const& work, std::int64_t t, std::int64_t end, std::int64_t panel, Part const& part) const {
        Panel const& own = states[work.group * panels + panel];
        if constexpr (fuses)
            if (channel_stride() == 1) {
                std::int64_t const whole = (min)(end, conv.gemm_m() / tile_rows - work.first);
                if (t < whole) multiply_and_store(work, t, whole, own, part);
                t = (max)(t, whole);
            }
        for (; t < end; ++t) multiply_tile(work, t, panel, part);
    }

    BlockOperands<Acc> operands(Item const& work, std::int64_t t, Panel const& own) const {
        return {work.k_ranges + t * k_ranges_per_tile,
                k_ranges_per_tile,
                own.offset,
                weights + own.filters,
                own.is_finite,
                {}};
    }

    /// Memory of the tile after tile t that the block from row `first_row` on prefetches.
    Ahead ahead_of(Item const& work, std::int64_t t, Part const& part, int first_row, int step) const {
        if (part.share == 0 || t + 1 >= work.count) return {};
        KRange<Acc> const& next = work.k_ranges[(t + 2) * k_ranges_per_tile - 1];
        if (next.length <= Ahead::chunk && !pixel_rows.are_linear()) return {};
        return part_of(next, part, first_row / step, tile_rows / step, of_gemm_k);
    }

    void multiply_tile(Item const& work, std::int64_t t, std::int64_t panel, Part const& part) const {
        Panel const& own = states[work.group * panels + panel];
        Row const* const rows = work.rows + t * tile_rows;
        int const row_count = static_cast<int>((min)(tile_rows, conv.gemm_m() - (work.first + t) * tile_rows));
        int const vectors = own.vectors, step = block_rows(vectors);
        BlockOperands<Acc> of = operands(work, t, own);
        PanelSums sum;
        for (; of.first_row < row_count; of.first_row += step) {
            int const count = of.first_row + step < row_count ? step : row_count - of.first_row;
            if constexpr (!pools) prefetch_outputs(rows + of.first_row, count, own.k0, vectors, channel_stride());
            of.ahead = ahead_of(work, t, part, of.first_row, step);
            multiply_panel(vectors, count, of, sum);
        }
        if constexpr (of_channels_alone)
            if (channel_stride() == 1) return store_rows(rows, row_count, own, sum, args);
        finish(work, t, row_count, panel, sum);
    }

    std::int64_t channel_stride() const { return Problem::has_steps ? 1 : y.layout.stride[1]; }

    /// Multiplies whole tiles t ... end - 1 by a panel and stores the results of the epilogue.
    void multiply_and_store(Item const& work, std::int64_t t, std::int64_t end, Panel const& own,
                            Part const& part) const {
        if constexpr (panel_vectors == 4) {
            if (own.vectors == 4) return multiply_and_store<4>(work, t, end, own, part);
            if (own.vectors == 3) return multiply_and_store<3>(work, t, end, own, part);
        }
        if (own.vectors == 2) return multiply_and_store<2>(work, t, end, own, part);
        multiply_and_store<1>(work, t, end, own, part);
    }
    template <int Vectors>
    void multiply_and_store(Item const& work, std::int64_t t, std::int64_t end, Panel const& own,
                            Part const& part) const {
        constexpr int step = block_rows(Vectors);
        // Made here: a copy of operands would wait for their stores.
        BlockOperands<Acc> of = operands(work, t, own);
        for (; t < end; ++t, of.k_ranges += k_ranges_per_tile)
            for (of.first_row = 0; of.first_row < tile_rows; of.first_row += step) {
                Row const* const rows = work.rows + t * tile_rows + of.first_row;
                prefetch_outputs(rows, step, own.k0, Vectors, 1);
                of.ahead = ahead_of(work, t, part, of.first_row, step);
                StoreBlock<Epilogue, U> const finish{rows, own, args};
                // In this loop, g++ would keep a vector of the panel on the stack.
                if constexpr (step == 12 && Vectors > 1) multiply_block<step, Vectors>(of, finish);
                else multiply_block_inline<step, Vectors>(of, finish);
            }
    }

    /// Applies any epilogue to `count` rows of tile t, and stores, collects or keeps the results.
    void finish(Item const& work, std::int64_t t, int count, std::int64_t panel, PanelSums const& sum) const {
        Panel const& own = states[work.group * panels + panel];
        Row const* const rows = work.rows + t * tile_rows;
        std::int64_t const stride = channel_stride();
        typename TileTotals<Epilogue>::template Accumulator<detail::Axis::channel> collected[panel_vectors];
        // The inner loop reads locals: the compiler must assume that a store to y aliases members.
        for (int j = 0; j < panel_vectors && own.used[j]; ++j) {
            int const used = own.used[j];
            auto const state = own.state[j];
            std::int64_t const k = own.k0 + j * lanes, columns = conv.y[3], offset = k * stride;
            bool const whole = used == lanes && stride == 1;
            for (int i = 0; i < count; ++i) {
                Pixel const& pixel = rows[i].at;
                LaneCoord<detail::Axis::channel> const at{{pixel.n, k, pixel.p, pixel.q}, used, columns};
                Vector const result =
                    Epilogue::apply(sum.value[i][j], at, state, args, [&](Vector x) { collected[j].add(x, used); });
                if constexpr (pools) store(result_of(work, t * tile_rows + i, panel) + j * lanes, result);
                else if (whole) store(rows[i].y + offset, result);
                else store(rows[i].y + offset, stride, used, result);
            }
        }
        if constexpr (Epilogue::collects)
            for (int j = 0; j < panel_vectors && own.used[j]; ++j) {
                std::int64_t const tile = work.first + t;
                totals().add(tile / tiles_per_total, tile % tiles_per_total == 0, own.k0 + j * lanes,
                             collected[j].total(), own.used[j]);
            }
    }

    auto totals() const { return TileTotals<Epilogue>(args, conv.y[1], conv.gemm_m(), tiles_per_total * tile_rows); }

    float* result_of(Item const& work, std::int64_t row, std::int64_t panel) const {
        return work.results + row * padded_k + panel * columns;
    }
};

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
