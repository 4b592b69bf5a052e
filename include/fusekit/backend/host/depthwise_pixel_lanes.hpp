// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/conv_problem.hpp"
#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/integer.hpp"
#include "fusekit/backend/host/lane_coord.hpp"
#include "fusekit/backend/host/padded_rows.hpp"
#include "fusekit/backend/host/tile_totals.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// Depthwise convolution with pixels along lanes, for outputs that are not channels-last: each output channel reads one
/// input channel. Rows of x are padded and converted to the accumulator type first.
template <class Epilogue, Element T, detail::OutputElement U, int Space, Element W = T, class Geometry = Filter<Space>>
class DepthwisePixelLanes {
    using Problem = ConvProblem<T, Space, W, problem::ChannelGroups, Geometry>;
    using Acc = detail::AccumulatorOf<T>;
    using Rows = PaddedRows<Problem, Space>;

public:
    static constexpr char const* name = "DepthwisePixelLanes";

    DepthwisePixelLanes(int the_threads, Problem const& the_conv, typename Epilogue::Args const& the_args,
                        TensorView<U> const& the_y)
        : threads(the_threads), conv(the_conv), args(the_args), y(the_y), padded(the_conv) {}

    std::int64_t scratch_floats() const { return thread_floats() * threads + state_floats + weight_floats; }

    void run(Device::RunContext& context) {
        memory = context.scratch(scratch_floats());
        states = reinterpret_cast<State*>(memory + thread_floats() * threads);
        weights = reinterpret_cast<Acc*>(states) + state_floats;
        if (context.packs()) context.parallel_for(channels, [this](std::int64_t k, int) { prepare(k); });
        if (context.only_packs()) return;
        if constexpr (Epilogue::collects) run_tiles(context);
        else
            context.parallel_for(conv.y[0] * channels, [this](std::int64_t plane, int thread) {
                auto rows = thread_rows(thread);
                for (std::int64_t first = 0; first < conv.y[3]; first += padded.columns())
                    for (OutputCoord at{plane / channels, plane % channels, 0, first}; at.p < conv.y[2]; ++at.p)
                        compute_row(at, rows);
            });
    }

private:
    using State = typename Epilogue::template State<Vector>;
    int threads;
    Problem const& conv;
    typename Epilogue::Args const& args;
    TensorView<U> const& y;
    Rows const padded;
    std::int64_t const channels = conv.y[1];
    /// rows of y over which one statistics total is taken
    std::int64_t const rows_of_tile = detail::divide_up(total_pixels, conv.y[3]);
    std::int64_t const state_floats =
        round_up(detail::divide_up(channels * std::int64_t{sizeof(State)}, sizeof(float)), lanes);
    std::int64_t const weight_floats = round_up(conv.taps() * channels, lanes);
    float* memory = nullptr;  // (threads)
    State* states = nullptr;  // (channels)
    Acc* weights = nullptr;  // (channels, taps)

    std::int64_t thread_floats() const { return round_up(padded.floats(), 2 * lanes); }
    auto thread_rows(int thread) const { return padded.buffer(memory + thread * thread_floats()); }

    void prepare(std::int64_t k) const {
        states[k] = Epilogue::template broadcast<Vector>(Epilogue::prepare(k, args));
        for (int tap = 0; tap < conv.taps(); ++tap)
            weights[k * conv.taps() + tap] = detail::widened_to<Acc>(conv.weights_of(
                k)[conv.w.layout.offset({{0, 0, tap / conv.window_columns(), tap % conv.window_columns()}})]);
    }

    /// Runs a plan that accumulates statistics: a work item, and so one thread, accumulates rows_of_tile rows of y for
    /// one channel.
    void run_tiles(Device::RunContext& context) const {
        TileTotals<Epilogue> const totals(args, channels, conv.gemm_m(), rows_of_tile * conv.y[3]);
        std::int64_t const rows = conv.y[0] * conv.y[2];
        context.parallel_for(detail::divide_up(rows, rows_of_tile) * channels, [&](std::int64_t item, int thread) {
            std::int64_t const tile = item / channels, k = item % channels;
            typename TileTotals<Epilogue>::template Accumulator<detail::Axis::pixel> collected;
            auto own = thread_rows(thread);
            for (std::int64_t row = tile * rows_of_tile; row < (min)((tile + 1) * rows_of_tile, rows); ++row)
                for (OutputCoord at{row / conv.y[2], k, row % conv.y[2], 0}; at.q < conv.y[3]; at.q += padded.columns())
                    compute_row(at, own, [&](Vector x, int used) { collected.add(x, used); });
            totals.put(tile, k, collected.total());
        });
        totals.save(context);
    }

    /// Computes the outputs of a row of y from column at.q on, for the columns that `buffer` holds. Calls collect(x,
    /// count) with each vector of values that the statistics operator receives, and its number of valid lanes.
    template <class Buffer, class Collect = detail::Nothing>
    void compute_row(OutputCoord at, Buffer& buffer, Collect const& collect = {}) const {
        padded.load(buffer, at);
        std::int64_t const first = at.q, end = (min)(conv.y[3], first + padded.columns());
        for (; at.q < end; at.q += lanes) {
            int const count = static_cast<int>((min)(lanes, end - at.q));
            Acc const* weight = weights + at.k * conv.taps();
            AccVector<T> sum{};
            for (int r = 0; r < conv.window_rows(); ++r) {
                Acc const* const row = buffer.rows[r] + (at.q - first);
                for (int s = 0; s < conv.window_columns(); ++s) sum += host::load(row + buffer.offsets[s]) * *weight++;
            }
            if constexpr (std::is_same_v<Collect, detail::Nothing>) write(at, count, sum);
            else write(at, count, sum, [&](Vector x) { collect(x, count); });
        }
    }

    template <class Collect = detail::Nothing>
    void write(OutputCoord const& at, int count, AccVector<T> sum, Collect const& collect = {}) const {
        store(&y(at.n, at.k, at.p, at.q), y.layout.stride[3], count,
              Epilogue::apply(floats(sum), LaneCoord<detail::Axis::pixel>{at, count, conv.y[3]}, states[at.k], args,
                              collect));
    }
};

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
