// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/conv_problem.hpp"
#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/integer.hpp"
#include "fusekit/backend/host/lane_coord.hpp"
#include "fusekit/backend/host/padded_rows.hpp"
#include "fusekit/backend/host/tile_totals.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// Depthwise convolution: each output channel reads one input channel, so that there is no GEMM to block for, and an
/// element of x is read a few times at most. Lanes run along the contiguous mode of y. With pixels along lanes, rows of
/// x are padded and converted to the accumulator type first. With channels along lanes, x is read in place, through
/// pointers to each tap that all channels of a pixel share.
template <class Epilogue, Element T, detail::OutputElement U, int Space, detail::Axis axis, Element W = T,
          class Geometry = Filter<Space>>
class Depthwise {
    using Problem = ConvProblem<T, Space, W, problem::ChannelGroups, Geometry>;
    using Acc = detail::AccumulatorOf<T>;
    static constexpr bool of_channels = axis == detail::Axis::channel;

    /// Scratch of a thread: the addresses of a pixel's taps in x, shared by all channels of the pixel.
    struct TapPointers {
        T const** taps;  ///< address of channel 0 of x at each tap; null in padding
        T zeros[lanes] = {};
    };
    struct NoRows {
        explicit NoRows(Problem const&) {}
    };
    using Rows = typename std::conditional_t<of_channels, std::type_identity<NoRows>,
                                             std::type_identity<PaddedRows<Problem, Space>>>::type;

public:
    Depthwise(int the_threads, Problem const& the_conv, typename Epilogue::Args const& the_args,
              TensorView<U> const& the_y)
        : threads(the_threads), conv(the_conv), args(the_args), y(the_y), padded(the_conv) {}

    std::int64_t scratch_floats() const { return thread_floats() * threads + state_floats + weight_floats; }

    void run(Device::RunContext& context) {
        memory = context.scratch(scratch_floats());
        states = reinterpret_cast<State*>(memory + thread_floats() * threads);
        weights = reinterpret_cast<Acc*>(states) + state_floats;
        context.parallel_for(vectors, [this](std::int64_t v, int) { prepare(v); });
        if constexpr (Epilogue::collects) run_tiles(context);
        else if constexpr (of_channels)
            context.parallel_for(conv.y[0] * conv.y[2], [this](std::int64_t row, int thread) {
                TapPointers taps = thread_state(thread);
                for (OutputCoord at{row / conv.y[2], 0, row % conv.y[2], 0}; at.q < conv.y[3]; ++at.q) {
                    find_taps(taps, at);
                    for (at.k = 0; at.k < conv.y[1]; at.k += lanes)
                        compute(at, static_cast<int>((min)(lanes, conv.y[1] - at.k)), taps);
                }
            });
        else
            context.parallel_for(conv.y[0] * conv.y[1], [this](std::int64_t plane, int thread) {
                auto rows = thread_state(thread);
                for (std::int64_t first = 0; first < conv.y[3]; first += padded.columns())
                    for (OutputCoord at{plane / conv.y[1], plane % conv.y[1], 0, first}; at.p < conv.y[2]; ++at.p)
                        compute_row(at, rows);
            });
    }

private:
    using State = typename Epilogue::template State<Vector>;
    /// channels per vector: a vector has channels of one pixel, or pixels of one channel
    static constexpr int width = of_channels ? lanes : 1;

    int threads;
    Problem const& conv;
    typename Epilogue::Args const& args;
    TensorView<U> const& y;
    Rows const padded;
    std::int64_t const vectors = of_channels ? detail::divide_up(conv.y[1], lanes) : conv.y[1];
    /// rows of y over which one statistics total is taken
    std::int64_t const rows_of_tile = detail::divide_up(total_pixels, conv.y[3]);
    std::int64_t const state_floats =
        round_up(detail::divide_up(vectors * std::int64_t{sizeof(State)}, sizeof(float)), lanes);
    std::int64_t const weight_floats = conv.taps() * round_up(conv.y[1], lanes);
    float* memory = nullptr;  // (threads)
    State* states = nullptr;  // (vectors)
    Acc* weights = nullptr;  // (taps, channels) or (channels, taps)

    std::int64_t thread_floats() const {
        if constexpr (of_channels) return round_up(2 * conv.taps(), 2 * lanes);
        else return round_up(padded.floats(), 2 * lanes);
    }
    auto thread_state(int thread) const {
        float* const own = memory + thread * thread_floats();
        if constexpr (of_channels) return TapPointers{reinterpret_cast<T const**>(own)};
        else return padded.buffer(own);
    }

    void prepare(std::int64_t v) const {
        std::int64_t const k0 = v * width;
        int const used = static_cast<int>((min)(width, conv.y[1] - k0));
        if constexpr (of_channels) states[v] = Epilogue::template prepare_lanes<Vector>(k0, used, args);
        else states[v] = Epilogue::template broadcast<Vector>(Epilogue::prepare(k0, args));
        for (int tap = 0; tap < conv.taps(); ++tap)
            for (int i = 0; i < width; ++i)
                weights[(v * conv.taps() + tap) * width + i] =
                    i < used ? detail::widened_to<Acc>(conv.weights_of(k0 + i)[conv.w.layout.offset(
                                   {{0, 0, tap / conv.window_columns(), tap % conv.window_columns()}})])
                             : 0;
    }

    /// Runs a plan that accumulates statistics: a work item, and so one thread, accumulates rows_of_tile rows of y for
    /// the channels of one vector.
    void run_tiles(Device::RunContext& context) const {
        TileTotals<Epilogue> const totals(args, conv.y[1], conv.gemm_m(), rows_of_tile * conv.y[3]);
        std::int64_t const rows = conv.y[0] * conv.y[2];
        context.parallel_for(detail::divide_up(rows, rows_of_tile) * vectors, [&](std::int64_t item, int thread) {
            std::int64_t const tile = item / vectors, k = item % vectors * width;
            typename TileTotals<Epilogue>::template Accumulator<axis> collected;
            auto own = thread_state(thread);
            for (std::int64_t row = tile * rows_of_tile; row < (min)((tile + 1) * rows_of_tile, rows); ++row) {
                OutputCoord at{row / conv.y[2], k, row % conv.y[2], 0};
                if constexpr (of_channels) {
                    int const used = static_cast<int>((min)(lanes, conv.y[1] - k));
                    for (; at.q < conv.y[3]; ++at.q) {
                        find_taps(own, at);
                        compute(at, used, own, [&](Vector x) { collected.add(x, used); });
                    }
                } else {
                    for (; at.q < conv.y[3]; at.q += padded.columns())
                        compute_row(at, own, [&](Vector x, int used) { collected.add(x, used); });
                }
            }
            totals.put(tile, k, collected.total(), static_cast<int>((min)(width, conv.y[1] - k)));
        });
        totals.save(context);
    }

    void find_taps(TapPointers const& pointers, OutputCoord const& at) const {
        T const** tap = pointers.taps;
        for (int r = 0; r < conv.window_rows(); ++r) {
            std::int64_t const h = conv.row(at.p, r);
            bool const has_row = conv.has_row(h);
            for (int s = 0; s < conv.window_columns(); ++s) {
                std::int64_t const w = conv.column(at.q, s);
                *tap++ = has_row && conv.has_column(w) ? &conv.x(at.n, 0, h, w) : nullptr;
            }
        }
    }

    /// Computes the outputs of one vector: `count` channels of one pixel.
    template <class Collect = detail::Nothing>
    void compute(OutputCoord const& at, int count, TapPointers const& pointers, Collect const& collect = {}) const {
        std::int64_t const v = at.k / lanes, step = conv.x.layout.stride[1], first = at.k * step;
        std::int64_t const taps = conv.taps();
        bool const whole = step == 1 && count == lanes;
        Acc const* weight = weights + v * taps * lanes;
        AccVector<T> sum{};
        for (std::int64_t tap = 0; tap < taps; ++tap, weight += lanes) {
            T const* const of_pixel = pointers.taps[tap];
            T const* const from = of_pixel ? of_pixel + first : pointers.zeros;
            if (whole) sum += load_widened(from) * host::load(weight);
            else sum += load_widened(from, of_pixel ? step : 0, count) * host::load(weight);
        }
        write(at, count, v, sum, collect);
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
            if constexpr (std::is_same_v<Collect, detail::Nothing>) write(at, count, at.k, sum);
            else write(at, count, at.k, sum, [&](Vector x) { collect(x, count); });
        }
    }

    template <class Collect = detail::Nothing>
    void write(OutputCoord const& at, int count, std::int64_t v, AccVector<T> sum, Collect const& collect = {}) const {
        store(&y(at.n, at.k, at.p, at.q), y.layout.stride[of_channels ? 1 : 3], count,
              Epilogue::apply(floats(sum), LaneCoord<axis>{at, count, conv.y[3]}, states[v], args, collect));
    }
};

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
