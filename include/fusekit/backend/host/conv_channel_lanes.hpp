// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/lane_coord.hpp"
#include "fusekit/backend/host/pack.hpp"
#include "fusekit/backend/host/pixel_rows.hpp"
#include "fusekit/backend/host/tile_totals.hpp"
#include "fusekit/backend/host/tiling.hpp"
#include "fusekit/ops/pool/reduce.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// Implicit GEMM with output channels along the lanes of a register tile and pixels along its rows; for channels-last
/// outputs.
///
/// Filters are packed once per run into panels of GemmK x tile_columns. A row of a register tile is the window of one
/// pixel, read in place from x or packed once and read by all panels (PixelRows).
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
        context.parallel_for(detail::divide_up(tiles, block) * conv.groups(), [=, this](std::int64_t item, int thread) {
            Acc* const scratch = thread_scratch + thread * thread_floats;
            Item const work{item % conv.groups(),
                            item / conv.groups() * block,
                            (min)(block, tiles - item / conv.groups() * block),
                            reinterpret_cast<KRange<Acc>*>(scratch),
                            reinterpret_cast<OutputRow*>(scratch + k_range_floats),
                            scratch + k_range_floats + row_floats,
                            reinterpret_cast<float*>(scratch + thread_floats - result_floats)};
            gather(work);
            for (std::int64_t panel0 = 0; panel0 < panels; panel0 += panel_block)
                for (std::int64_t t = 0; t < work.count; ++t)
                    for (std::int64_t panel = panel0; panel < (min)(panel0 + panel_block, panels); ++panel)
                        multiply(work, t, panel);
            if constexpr (pools) write_windows(work);
        });
        if constexpr (Epilogue::collects) totals().save(context);
    }

private:
    using Acc = detail::AccumulatorOf<T>;
    static constexpr bool pools = !std::is_void_v<Pool>;
    /// The number of tiles in a work item is a multiple of this: with pooling, tiles that hold whole windows; with
    /// statistics, all tiles of one statistics total.
    static constexpr std::int64_t tiles_per_total = Epilogue::collects ? detail::divide_up(total_pixels, tile_rows)
                                                    : pools            ? 2
                                                                       : 1;

    struct OutputRow {
        Pixel at;
        U* y;  ///< address of the pixel's channel 0 in y; null if results are pooled
    };

    /// For the output channels of a panel of filters: the epilogue's prepared parameters, and the number of valid lanes
    /// per vector.
    struct Panel {
        typename Epilogue::template State<Vector> state[tile_vectors];
        std::int64_t k0;
        int used[tile_vectors];
    };

    /// A work item of parallel_for: `count` register tiles from number `first` on, in one group of channels.
    struct Item {
        std::int64_t group, first, count;
        KRange<Acc>* k_ranges;  // (count, k_ranges_per_tile)
        OutputRow* rows;  // (count, tile_rows)
        Acc* packed;  // (count, tile_rows, row_stride)
        float* results;  // (count, tile_rows, panels, tile_columns), input of the pool
    };

    int const threads;
    Problem const& conv;
    typename Epilogue::Args const& args;
    TensorView<U> const& y;

    std::int64_t const gemm_k = conv.gemm_k(), group_k = conv.group_k();
    std::int64_t const panels = detail::divide_up(group_k, tile_columns), panel_floats = gemm_k * tile_columns;
    std::int64_t const tiles = detail::divide_up(conv.gemm_m(), tile_rows);
    PixelRows<Problem, T> const pixel_rows{conv, panels};
    std::int64_t const k_ranges_per_tile = pixel_rows.ranges(), row_stride = pixel_rows.packed_floats();
    std::int64_t const row_bytes = pixel_rows.floats() * tile_rows * std::int64_t{sizeof(float)};
    std::int64_t const fitting = tiles_per_item(tiles, clamp(item_bytes / row_bytes, 4, 32), threads);
    std::int64_t const block = round_up(fitting, tiles_per_total);
    static_assert(2 * tile_rows % 4 == 0);
    std::int64_t const k_range_floats = round_up(block * k_ranges_per_tile * std::int64_t{sizeof(KRange<Acc>)}, 64) / 4;
    std::int64_t const row_floats = round_up(block * tile_rows * std::int64_t{sizeof(OutputRow)}, 64) / 4;
    std::int64_t const result_floats = pools ? block * tile_rows * panels * tile_columns : 0;
    std::int64_t const thread_floats = k_range_floats + row_floats + block * tile_rows * row_stride + result_floats;
    std::int64_t const panel_block = (max)(1, panel_bytes / (max)(1, panel_floats* std::int64_t{sizeof(float)}));
    std::int64_t const zeros = pixel_rows.zeros(), weight_floats = conv.groups() * panels * panel_floats;
    std::int64_t const state_floats = round_up(conv.groups() * panels * std::int64_t{sizeof(Panel)}, 64) / 4;
    Acc* weights = nullptr;  // (groups, panels, gemm_k, tile_columns): packed filters
    Acc* zero = nullptr;  // (zeros): read for taps outside x
    Panel* states = nullptr;  // (groups, panels)

    void prepare(std::int64_t item) const {
        std::int64_t const group = item / panels, first = conv.first_k(group), in_group = item % panels * tile_columns,
                           k0 = first + in_group, k_end = first + group_k;
        pack_weight_panel(weights + item * panel_floats, conv, group, in_group);
        states[item].k0 = k0;
        for (int j = 0; j < tile_vectors; ++j) {
            int const used = static_cast<int>(clamp(k_end - (k0 + j * lanes), 0, lanes));
            states[item].used[j] = used;
            if (used) states[item].state[j] = Epilogue::template prepare_lanes<Vector>(k0 + j * lanes, used, args);
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
                return pixel_rows.gather_linear(work.k_ranges, count, work.group, first, last);
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
        pixel_rows.gather(work.k_ranges, count, work.group, work.packed, zero,
                          [&](std::int64_t row) -> Pixel const& { return work.rows[row].at; });
    }

    void multiply(Item const& work, std::int64_t t, std::int64_t panel) const {
        Panel const& own = states[work.group * panels + panel];
        OutputRow const* const rows = work.rows + t * tile_rows;
        std::int64_t const channel_stride = Problem::has_steps ? 1 : y.layout.stride[1];
        if (panel == 0 && t + 1 < work.count) prefetch(work.k_ranges[(t + 1) * k_ranges_per_tile]);
        if constexpr (!pools)
            for (int i = 0; i < tile_rows; ++i) __builtin_prefetch(rows[i].y + own.k0 * channel_stride, 1);
        std::int64_t const row_count = (min)(tile_rows, conv.gemm_m() - (work.first + t) * tile_rows);
        TileAccumulators sum;
        static_assert(tile_vectors == 2);
        gemm_tile_of(row_count, own.used[1] == 0, sum, work.k_ranges + t * k_ranges_per_tile, k_ranges_per_tile,
                     weights + (work.group * panels + panel) * panel_floats);
        if constexpr (!pools && !Epilogue::collects && !Epilogue::pixelwise)
            if (channel_stride == 1) return store_tile(rows, row_count, own, sum);
        typename TileTotals<Epilogue>::template Accumulator<detail::Axis::channel> collected[tile_vectors];
        // The inner loop reads locals: the compiler must assume that a store to y aliases members.
        for (int j = 0; j < tile_vectors && own.used[j]; ++j) {
            int const used = own.used[j];
            auto const state = own.state[j];
            std::int64_t const k = own.k0 + j * lanes, columns = conv.y[3], offset = k * channel_stride;
            bool const whole = used == lanes && channel_stride == 1;
            for (int i = 0; i < row_count; ++i) {
                Pixel const& pixel = rows[i].at;
                LaneCoord<detail::Axis::channel> const at{{pixel.n, k, pixel.p, pixel.q}, used, columns};
                Vector const result =
                    Epilogue::apply(sum.value[i][j], at, state, args, [&](Vector x) { collected[j].add(x, used); });
                if constexpr (pools) store(result_of(work, t * tile_rows + i, panel) + j * lanes, result);
                else if (whole) store(rows[i].y + offset, result);
                else store(rows[i].y + offset, channel_stride, used, result);
            }
        }
        if constexpr (Epilogue::collects)
            for (int j = 0; j < tile_vectors && own.used[j]; ++j) {
                std::int64_t const tile = work.first + t;
                totals().add(tile / tiles_per_total, tile % tiles_per_total == 0, own.k0 + j * lanes,
                             collected[j].total(), own.used[j]);
            }
    }

    /// Applies an epilogue that depends on channels alone to `count` rows of a tile and stores them to contiguous
    /// channels.
    void store_tile(OutputRow const* rows, std::int64_t count, Panel const& own, TileAccumulators const& sum) const {
        auto const& of_plan = args;
        std::int64_t const k = own.k0;
        for (int j = 0; j < tile_vectors && own.used[j]; ++j) {
            auto const state = own.state[j];
            int const used = own.used[j];
            for (std::int64_t i = 0; i < count; ++i) {
                U* const to = rows[i].y + (k + j * lanes);
                Vector const result = Epilogue::apply(
                    sum.value[i][j], LaneCoord<detail::Axis::channel>{{0, k, 0, 0}, used, 1}, state, of_plan);
                if (used == lanes) store(to, result);
                else store(to, 1, used, result);
            }
        }
    }

    auto totals() const { return TileTotals<Epilogue>(args, conv.y[1], conv.gemm_m(), tiles_per_total * tile_rows); }

    float* result_of(Item const& work, std::int64_t row, std::int64_t panel) const {
        return work.results + (row * panels + panel) * tile_columns;
    }

    /// Writes an item's pooled outputs: each is reduced from four consecutive rows of `results`, the pixels of a 2 x 2
    /// window.
    void write_windows(Item const& work) const {
        std::int64_t const rows = (min)(work.count * tile_rows, conv.gemm_m() - work.first * tile_rows);
        for (std::int64_t row = 0; row < rows; row += 4)
            for (std::int64_t panel = 0; panel < panels; ++panel) {
                Panel const& own = states[work.group * panels + panel];
                Pixel const& at = work.rows[row].at;
                for (int j = 0; j < tile_vectors && own.used[j]; ++j) {
                    using Reduce = typename Pool::Reduce;
                    Vector total = Reduce::template neutral<Vector>();
                    for (int i = 0; i < 4; ++i)
                        total = Reduce::combine(total, load(result_of(work, row + i, panel) + j * lanes));
                    store(&y(at.n, own.k0 + j * lanes, at.p / 2, at.q / 2), y.layout.stride[1], own.used[j],
                          Reduce::finish(total, 4));
                    if constexpr (Pool::writes_taps) write_taps(work, row, panel, j);
                }
            }
    }

    /// Writes the taps of the maxima of a window's channels: those of vector j of a panel.
    void write_taps(Item const& work, std::int64_t row, std::int64_t panel, int j) const {
        Panel const& own = states[work.group * panels + panel];
        Pixel const& at = work.rows[row].at;
        for (int lane = 0; lane < own.used[j]; ++lane) {
            fusekit::detail::TappedMaximum<float> maximum;
            for (int i = 0; i < 4; ++i) maximum.add(result_of(work, row + i, panel)[j * lanes + lane], i);
            Pool::store_tap(fusekit::detail::get<Epilogue::size - 1>(args),
                            {{at.n, own.k0 + j * lanes + lane, at.p / 2, at.q / 2}}, maximum.tap);
        }
    }
};

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
