// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/conv_problem.hpp"
#include "fusekit/backend/host/gemm_panel.hpp"
#include "fusekit/backend/host/lane_coord.hpp"
#include "fusekit/ops/pool/reduce.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// A panel of filters of ConvChannelLanes and the epilogue's prepared parameters of their channels.
template <class Epilogue>
struct FilterPanel {
    typename Epilogue::template State<Vector> state[panel_vectors];
    std::int64_t k0;       ///< output channel of the first filter
    std::int64_t filters;  ///< elements of packed filters before the panel
    std::int64_t offset;   ///< elements of a pixel of x before the filters' group
    int used[panel_vectors];  ///< channels of each vector
    int vectors;
    bool is_finite;  ///< no filter has an infinity or NaN
};

/// Output of a row of a register tile.
template <detail::OutputElement U>
struct OutputRow {
    Pixel at;
    U* y;  ///< address of the pixel's channel 0; null if results are pooled
};

/// Prefetches the outputs that `count` rows store to `vectors` vectors of channels from k0 on.
template <detail::OutputElement U>
void prefetch_outputs(OutputRow<U> const* rows, int count, std::int64_t k0, int vectors, std::int64_t channel_stride) {
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < vectors * lanes; k += line_floats)
            __builtin_prefetch(rows[i].y + (k0 + k) * channel_stride, 1);
}

/// Applies an epilogue that depends on channels alone to accumulators in registers, those of a block's rows and vector
/// j, and stores them to contiguous channels.
template <class Epilogue, detail::OutputElement U>
struct StoreBlock {
    OutputRow<U> const* rows;
    FilterPanel<Epilogue> const& own;
    typename Epilogue::Args const& args;

    template <std::size_t Rows>
    [[gnu::always_inline]] void operator()(int j, Vector const (&sums)[Rows]) const {
        store_all(j, sums, std::make_index_sequence<Rows>{});
    }

private:
    LaneCoord<detail::Axis::channel> coord(int j) const { return {{0, own.k0 + j * lanes, 0, 0}, own.used[j], 1}; }

    template <std::size_t... Row>
    [[gnu::always_inline]] void store_all(int j, Vector const (&sums)[sizeof...(Row)],
                                          std::index_sequence<Row...>) const {
        int const used = own.used[j];
        if (!has_masked_stores && used != lanes) return store_some(j, sums, sizeof...(Row));
        auto const state = own.state[j];
        auto const at = coord(j);
        std::int64_t const k = own.k0 + j * lanes;
        if constexpr (has_masked_stores)
            (store_first(rows[Row].y + k, used, Epilogue::apply(sums[Row], at, state, args)), ...);
        else (store(rows[Row].y + k, Epilogue::apply(sums[Row], at, state, args)), ...);
    }

    /// Not inlined: its calls would spill the accumulators of whole vectors.
    [[gnu::noinline]] void store_some(int j, Vector const* sums, std::size_t count) const {
        auto const state = own.state[j];
        auto const at = coord(j);
        for (std::size_t row = 0; row < count; ++row)
            store_first(rows[row].y + own.k0 + j * lanes, own.used[j], Epilogue::apply(sums[row], at, state, args));
    }
};

/// Applies such an epilogue to the sums of `count` rows of a tile and stores them to contiguous channels.
template <class Epilogue, detail::OutputElement U>
void store_rows(OutputRow<U> const* rows, int count, FilterPanel<Epilogue> const& own, PanelSums const& sum,
                typename Epilogue::Args const& args) {
    std::int64_t const k = own.k0;
    for (int j = 0; j < panel_vectors && own.used[j]; ++j) {
        auto const state = own.state[j];
        int const used = own.used[j];
        for (int i = 0; i < count; ++i) {
            U* const to = rows[i].y + (k + j * lanes);
            Vector const result =
                Epilogue::apply(sum.value[i][j], LaneCoord<detail::Axis::channel>{{0, k, 0, 0}, used, 1}, state, args);
            if (used == lanes) store(to, result);
            else store(to, 1, used, result);
        }
    }
}

/// Stores pooled outputs: each is reduced from four consecutive rows, the pixels of a 2 x 2 window, of results (rows,
/// row_floats). The last operator of the epilogue has the memory of taps, if Pool writes them.
template <class Pool, class Epilogue, detail::OutputElement U>
void store_pooled(TensorView<U> const& y, OutputRow<U> const* rows, std::int64_t count,
                  FilterPanel<Epilogue> const* panels, std::int64_t panel_count, float const* results,
                  std::int64_t row_floats, typename Epilogue::Args const& args) {
    using Reduce = typename Pool::Reduce;
    for (std::int64_t row = 0; row < count; row += 4)
        for (std::int64_t panel = 0; panel < panel_count; ++panel) {
            FilterPanel<Epilogue> const& own = panels[panel];
            Pixel const& at = rows[row].at;
            for (int j = 0; j < panel_vectors && own.used[j]; ++j) {
                float const* const first = results + row * row_floats + (own.k0 - panels[0].k0) + j * lanes;
                std::int64_t const k = own.k0 + j * lanes;
                Vector total = Reduce::template neutral<Vector>();
                for (int i = 0; i < 4; ++i) total = Reduce::combine(total, load(first + i * row_floats));
                store(&y(at.n, k, at.p / 2, at.q / 2), y.layout.stride[1], own.used[j], Reduce::finish(total, 4));
                if constexpr (Pool::writes_taps)
                    for (int lane = 0; lane < own.used[j]; ++lane) {
                        fusekit::detail::TappedMaximum<float> maximum;
                        for (int i = 0; i < 4; ++i) maximum.add(first[i * row_floats + lane], i);
                        Pool::store_tap(fusekit::detail::get<Epilogue::size - 1>(args),
                                        {{at.n, k + lane, at.p / 2, at.q / 2}}, maximum.tap);
                    }
            }
        }
}

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
