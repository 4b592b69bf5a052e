// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/conv_problem.hpp"
#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/integer.hpp"
#include "fusekit/backend/host/lane_coord.hpp"
#include "fusekit/backend/host/tile_totals.hpp"

namespace fusekit::host::inline FUSEKIT_SIMD {

/// Depthwise: each output channel sees one input channel, so there is no product to block for and every element
/// of x is read a few times at most. Lanes run along what is contiguous in y; no packing but of the filters.
template <class Epilogue, Element T, detail::OutputElement U, int Space, detail::Axis axis, Element W = T,
          class Geometry = Filter<Space>>
class Depthwise {
    using Problem = ConvProblem<T, Space, W, problem::ChannelGroups, Geometry>;

public:
    Depthwise(Problem const& the_conv, typename Epilogue::Args const& the_args, TensorView<U> const& the_y)
        : conv(the_conv), args(the_args), y(the_y) {}

    std::int64_t scratch_floats() const { return state_floats + conv.taps() * round_up(conv.y[1], lanes); }

    void run(Device::Turn& turn) {
        states = reinterpret_cast<State*>(turn.scratch(scratch_floats()));
        weights = reinterpret_cast<detail::AccumulatorOf<T>*>(states) + state_floats;
        turn.parallel_for(vectors, [this](std::int64_t v, int) { prepare(v); });
        if constexpr (Epilogue::collects) run_tiles(turn);
        else if constexpr (axis == detail::Axis::channel)
            turn.parallel_for(conv.y[0] * conv.y[2], [this](std::int64_t row, int) {
                for (OutputCoord at{row / conv.y[2], 0, row % conv.y[2], 0}; at.q < conv.y[3]; ++at.q)
                    for (at.k = 0; at.k < conv.y[1]; at.k += lanes)
                        compute(at, static_cast<int>((min)(lanes, conv.y[1] - at.k)));
            });
        else
            turn.parallel_for(conv.y[0] * conv.y[1], [this](std::int64_t plane, int) {
                for (OutputCoord at{plane / conv.y[1], plane % conv.y[1], 0, 0}; at.p < conv.y[2]; ++at.p)
                    for (at.q = 0; at.q < conv.y[3]; at.q += lanes)
                        compute(at, static_cast<int>((min)(lanes, conv.y[3] - at.q)));
            });
    }

private:
    using State = typename Epilogue::template State<Vector>;
    static constexpr int width = axis == detail::Axis::channel ? lanes : 1;  ///< channels of a vector

    Problem const& conv;
    typename Epilogue::Args const& args;
    TensorView<U> const& y;
    std::int64_t const vectors = axis == detail::Axis::channel ? detail::divide_up(conv.y[1], lanes) : conv.y[1];
    std::int64_t const rows_of_tile = detail::divide_up(total_pixels, conv.y[3]);  ///< that share totals
    std::int64_t const state_floats = detail::divide_up(vectors * std::int64_t{sizeof(State)}, sizeof(float));
    State* states = nullptr;   // (vectors)
    detail::AccumulatorOf<T>* weights = nullptr;  // (taps, channels) or (channels, taps)

    void prepare(std::int64_t v) const {
        std::int64_t const k0 = v * width;
        int const used = static_cast<int>((min)(width, conv.y[1] - k0));
        if constexpr (axis == detail::Axis::channel)
            states[v] = Epilogue::template prepare_lanes<Vector>(k0, used, args);
        else states[v] = Epilogue::template broadcast<Vector>(Epilogue::prepare(k0, args));
        for (int tap = 0; tap < conv.taps(); ++tap)
            for (int i = 0; i < width; ++i)
                weights[(v * conv.taps() + tap) * width + i] =
                    i < used
                        ? detail::widened_to<detail::AccumulatorOf<T>>(conv.weights_of(k0 + i)[conv.w.layout.offset(
                              {{0, 0, tap / conv.window_columns(), tap % conv.window_columns()}})])
                        : 0;
    }

    /// Tiles of rows of all images: one item of work, and with it one thread, has a tile of a vector's channels.
    void run_tiles(Device::Turn& turn) const {
        TileTotals<Epilogue> const totals(args, conv.y[1], conv.gemm_m(), rows_of_tile * conv.y[3]);
        std::int64_t const rows = conv.y[0] * conv.y[2], step = axis == detail::Axis::channel ? 1 : lanes;
        turn.parallel_for(detail::divide_up(rows, rows_of_tile) * vectors, [&](std::int64_t item, int) {
            std::int64_t const tile = item / vectors, k = item % vectors * width;
            typename TileTotals<Epilogue>::template Accumulator<axis> collected;
            for (std::int64_t row = tile * rows_of_tile; row < (min)((tile + 1) * rows_of_tile, rows); ++row)
                for (OutputCoord at{row / conv.y[2], k, row % conv.y[2], 0}; at.q < conv.y[3]; at.q += step) {
                    int const used = static_cast<int>(
                        (min)(lanes, axis == detail::Axis::channel ? conv.y[1] - k : conv.y[3] - at.q));
                    compute(at, used, [&](Vector x) { collected.add(x, used); });
                }
            totals.put(tile, k, collected.total(), static_cast<int>((min)(width, conv.y[1] - k)));
        });
        totals.save(turn);
    }

    template <class Collect = detail::Nothing>
    void compute(OutputCoord const& at, int count, Collect const& collect = {}) const {
        constexpr int mode = axis == detail::Axis::channel ? 1 : 3;
        std::int64_t const v = axis == detail::Axis::channel ? at.k / lanes : at.k;
        std::int64_t step = conv.x.layout.stride[1];
        if constexpr (axis == detail::Axis::pixel) step = conv.x.layout.stride[3] * conv.column_step();
        detail::AccumulatorOf<T> const* weight =
            weights + v * conv.taps() * (axis == detail::Axis::channel ? lanes : 1);
        Sums<T> sum{};
        for (int r = 0; r < conv.window_rows(); ++r) {
            std::int64_t const h = conv.row(at.p, r);
            bool const has_row = conv.has_row(h);
            for (int s = 0; s < conv.window_columns(); ++s) {
                std::int64_t const w = conv.column(at.q, s);
                if constexpr (axis == detail::Axis::channel) {
                    if (has_row && conv.has_column(w))
                        sum += load_widened(&conv.x(at.n, at.k, h, w), step, count) * load(weight);
                    else sum += Sums<T>{} * load(weight);
                    weight += lanes;
                } else {
                    sum += (has_row ? window(at, h, w, step, count) : Sums<T>{}) * *weight;
                    ++weight;
                }
            }
        }
        store(&y(at.n, at.k, at.p, at.q), y.layout.stride[mode], count,
              Epilogue::apply(floats(sum), LaneCoord<axis>{at, count, conv.y[3]}, states[v], args, collect));
    }

    /// Elements of row h of x under one tap of neighbouring pixels, zero outside x.
    Sums<T> window(OutputCoord const& at, std::int64_t h, std::int64_t w, std::int64_t step, int count) const {
        std::int64_t const advance = conv.column_step(), columns = conv.x.layout.shape[3];
        T const* const row = &conv.x(at.n, at.k, h, 0);
        if (w >= 0 && w + (count - 1) * advance < columns)
            return load_widened(row + w * conv.x.layout.stride[3], step, count);
        Sums<T> v{};
        for (int i = 0; i < count; ++i)
            if (w + i * advance >= 0 && w + i * advance < columns)
                v[i] = detail::widened(row[(w + i * advance) * conv.x.layout.stride[3]]);
        return v;
    }
};

}  // namespace fusekit::host::inline FUSEKIT_SIMD
