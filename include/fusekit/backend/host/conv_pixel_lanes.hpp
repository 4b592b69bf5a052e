// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/lane_coord.hpp"
#include "fusekit/backend/host/pack.hpp"
#include "fusekit/backend/host/tile_totals.hpp"
#include "fusekit/backend/host/tiling.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// Implicit GEMM with pixels along the lanes of a register tile and output channels along its rows; for layouts that
/// are not channels-last.
///
/// A thread packs the windows of a few pixels at a time into panels of GemmK x tile_columns and multiplies them by all
/// filters. Dense float filters are read in place; others are packed once per run.
template <class Epilogue, Element T, detail::OutputElement U, int Space, Element W = T,
          class Groups = problem::ChannelGroups, class Geometry = Filter<Space>>
class ConvPixelLanes {
    using Problem = ConvProblem<T, Space, W, Groups, Geometry>;

public:
    static constexpr char const* name = "ConvPixelLanes";

    ConvPixelLanes(int the_threads, Problem const& the_conv, typename Epilogue::Args const& the_args,
                   TensorView<U> const& the_y, std::int64_t the_columns)
        : threads(the_threads), conv(the_conv), args(the_args), y(the_y), columns(the_columns) {}

    std::int64_t scratch_floats() const { return weight_floats + threads * thread_floats; }

    void run(Device::RunContext& context) {
        weights = reinterpret_cast<Acc*>(context.scratch(scratch_floats()));
        if (!direct && context.packs())
            context.parallel_for(conv.groups() * group_k, [this](std::int64_t row, int) {
                pack_weight_row(weights + row * row_stride, conv, row / group_k, row % group_k, order);
            });
        if (context.only_packs()) return;
        context.parallel_for(detail::divide_up(panels, block) * conv.groups(), [&](std::int64_t item, int thread) {
            std::int64_t const group = item % conv.groups(), first = item / conv.groups() * block;
            Acc* const scratch = weights + weight_floats + thread * thread_floats;
            Item work{group,
                      first,
                      (min)(block, panels - first),
                      scratch,
                      reinterpret_cast<Piece*>(scratch + block * panel_floats),
                      {},
                      0};
            gather(work, first * tile_columns);
            for (std::int64_t k = 0; k < group_k; k += tile_rows) multiply(work, k);
        });
        if constexpr (Epilogue::collects) totals().save(context);
    }

private:
    using Acc = detail::AccumulatorOf<T>;
    static constexpr int max_panels = 8;

    /// The number of panels in a work item is a multiple of this: with statistics, all panels of one statistics total.
    static constexpr int panels_per_total = Epilogue::collects ? static_cast<int>(total_pixels) / tile_columns : 1;
    static_assert(max_panels % panels_per_total == 0);

    using Collected = typename TileTotals<Epilogue>::template Accumulator<detail::Axis::pixel>;

    /// A work item of parallel_for: `count` panels of tile_columns pixels each, from panel `first` on, in one group of
    /// channels.
    struct Item {
        std::int64_t group, first, count;
        Acc* windows;  // (count, gemm_k, tile_columns)
        Piece* pieces;  // (taps, pieces_per_tap)
        Run runs[max_panels * tile_columns];
        int run_count;
    };

    int const threads;
    Problem const& conv;
    typename Epilogue::Args const& args;
    TensorView<U> const& y;
    std::int64_t const columns;  ///< Q of the user's y; `conv`, if flattened(), has one row per plane instead

    std::int64_t const gemm_k = conv.gemm_k(), group_c = conv.group_c(), group_k = conv.group_k();
    GemmKOrder const order =
        problem::channels_are_contiguous(conv.w.layout) ? GemmKOrder{1, group_c} : GemmKOrder{conv.taps(), 1};
    bool const direct = std::same_as<W, float> && weights_are(conv, order) && apart_in_cache(conv.w.layout.stride[0]);
    std::int64_t const row_stride = packed_row_stride(gemm_k);
    std::int64_t const panels = detail::divide_up(conv.gemm_m(), tile_columns), panel_floats = gemm_k * tile_columns;
    std::int64_t const block = round_up(
        tiles_per_item(panels, clamp(item_bytes / (max)(1, panel_floats* std::int64_t{sizeof(float)}), 1, max_panels),
                       threads),
        panels_per_total);
    std::int64_t const piece_bytes = conv.taps() * pieces_per_tap(block) * std::int64_t{sizeof(Piece)};
    std::int64_t const thread_floats = block * panel_floats + round_up(piece_bytes, 64) / 4;
    std::int64_t const weight_floats = direct ? 0 : conv.groups() * group_k * row_stride;
    Acc* weights = nullptr;

    /// Packs the windows of the item's pixels, from pixel `m` of GemmM on, one row of y (Run) at a time; lanes past the
    /// last pixel are zero.
    void gather(Item& work, std::int64_t m) const {
        int const total = static_cast<int>((min)(work.count * tile_columns, conv.gemm_m() - m));
        if (total < work.count * tile_columns) {
            std::int64_t const last = (work.count - 1) * panel_floats;
            fill_zero(work.windows + last, panel_floats);
        }
        for (int done = 0; done < total;) {
            Pixel const at = conv.pixel(m + done, work.group);
            int const count = static_cast<int>((min)(total - done, conv.y[3] - at.q));
            work.runs[work.run_count] = {at, done, count};
            pack_pixel_panels(work.windows, conv, conv.first_c(work.group), order, work.runs[work.run_count++],
                              work.pieces);
            done += count;
        }
    }

    void multiply(Item const& work, std::int64_t k0) const {
        int const row_count = static_cast<int>((min)(tile_rows, group_k - k0));
        std::int64_t const k = conv.first_k(work.group) + k0;
        W const* const of_group = conv.weights_of(work.group);
        KRange<Acc> k_range{{}, gemm_k};
        typename Epilogue::template State<Vector> state[tile_rows];
        for (int i = 0; i < tile_rows; ++i) {  // rows past the last filter repeat the last
            std::int64_t const row = (min)(i, row_count - 1);
            k_range.row[i] = weights + (work.group * group_k + k0 + row) * row_stride;
            if constexpr (std::same_as<W, float>)
                if (direct) k_range.row[i] = of_group + (k0 + row) * conv.w.layout.stride[0];
            state[i] = Epilogue::template broadcast<Vector>(Epilogue::prepare(k + row, args));
        }
        Collected collected[tile_rows];
        Run const* run = work.runs;
        for (std::int64_t b = 0; b < work.count; ++b) {
            int const first = static_cast<int>(b) * tile_columns;
            std::int64_t const q = run->at.q + (max)(first - run->first, 0);
            for (int i = 0; i < row_count; ++i) __builtin_prefetch(&y(run->at.n, k + i, run->at.p, q), 1);
            TileAccumulators sum;
            gemm_tile(sum, &k_range, 1, work.windows + b * panel_floats);
            for (;; ++run) {
                int const begin = static_cast<int>((max)(run->first, first));
                int const end = static_cast<int>((min)(run->first + run->count, first + tile_columns));
                for (int i = 0; i < row_count; ++i)
                    finish(sum.value[i], begin - first, end - begin, *run, begin - run->first, k + i, state[i],
                           collected[i]);
                if (run->first + run->count > first + tile_columns || run + 1 == work.runs + work.run_count) break;
            }
            if constexpr (Epilogue::collects)
                if ((b + 1) % panels_per_total == 0 || b + 1 == work.count)
                    for (int i = 0; i < row_count; ++i) {
                        totals().put((work.first + b) / panels_per_total, k + i, collected[i].total());
                        collected[i] = {};
                    }
        }
    }

    auto totals() const { return TileTotals<Epilogue>(args, conv.y[1], conv.gemm_m(), total_pixels); }

    /// Stores `count` pixels of channel k: lanes from `lane` on hold the pixels of `run` (consecutive pixels of a row
    /// of y, pack.hpp) from its pixel number `skip` on.
    void finish(Vector const (&sum)[tile_vectors], int lane, int count, Run const& run, int skip, std::int64_t k,
                typename Epilogue::template State<Vector> const& state, Collected& collected) const {
        std::int64_t const stride = y.layout.stride[3];
        U* const to = &y(run.at.n, k, run.at.p, run.at.q + skip);
        for (int done = 0; done < count; done += lanes) {
            int const used = static_cast<int>((min)(lanes, count - done));
            Vector const v = load(reinterpret_cast<float const*>(sum) + lane + done, 1, used);
            LaneCoord<detail::Axis::pixel> const at{{run.at.n, k, run.at.p, run.at.q + skip + done}, used, columns};
            store(to + done * stride, stride, used,
                  Epilogue::apply(v, at, state, args, [&](Vector x) { collected.add(x, used); }));
        }
    }
};

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
