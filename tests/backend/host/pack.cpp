// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/pack.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <vector>

namespace fk = fusekit;
using namespace fk::host;

namespace {

template <class T>
std::vector<T> elements(std::int64_t count) {
    std::vector<T> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(T(static_cast<float>(static_cast<int>(i * 37 % 251) - 125)));
    return all;
}

/// A convolution with its memory.
template <class T>
struct Conv {
    std::vector<T> of_x, of_w;
    ConvProblem<T, 2> problem;

    Conv(fk::Layout<4> const& x, fk::Layout<4> const& w, fk::Index<4> const& y, fk::Filter<2> const& filter)
        : of_x(elements<T>(x.span())),
          of_w(elements<T>(w.span())),
          problem{{{of_x.data(), x}, {of_w.data(), w}, y, filter}, {fk::Index<4>{}, fk::Index<4>{}}} {}

    fk::detail::AccumulatorOf<T> under(Pixel const& at, std::int64_t c, int r, int s) const {
        auto const h = problem.row(at.p, r), column = problem.column(at.q, s);
        bool const inside = problem.has_row(h) && problem.has_column(column);
        return inside ? fk::detail::widened(problem.x(at.n, c, h, column)) : fk::detail::AccumulatorOf<T>{};
    }
};

}  // namespace

TEMPLATE_TEST_CASE("a weight panel has one filter per column, and zeros past the last", "", float, fk::half, fk::int8) {
    using Acc = fk::detail::AccumulatorOf<TestType>;
    std::int64_t const filters = tile_columns + 3, channels = 2 * lanes + 1;
    for (fk::Layout<4> const& w : {fk::kcrs(filters, channels, 2, 3), fk::krsc(filters, 2, 3, channels)}) {
        Conv<TestType> const conv(fk::nchw(1, channels, 4, 4), w, {{1, filters, 3, 2}}, fk::filter(2, 3));
        for (std::int64_t const first : {std::int64_t{0}, std::int64_t{tile_columns}}) {
            std::vector<Acc> panel(static_cast<std::size_t>(conv.problem.gemm_k() * tile_columns), Acc{-999});
            pack_weight_panel(panel.data(), conv.problem, 0, first);
            int wrong = 0;
            for (int r = 0; r < 2; ++r)
                for (int s = 0; s < 3; ++s)
                    for (std::int64_t c = 0; c < channels; ++c)
                        for (int column = 0; column < tile_columns; ++column) {
                            auto const k = first + column;
                            Acc const expected = k < filters ? fk::detail::widened(conv.problem.w(k, c, r, s)) : Acc{};
                            auto const at = ((r * 3 + s) * channels + c) * tile_columns + column;
                            wrong += panel[static_cast<std::size_t>(at)] != expected;
                        }
            CAPTURE(first, w.stride[1]);
            CHECK(wrong == 0);
        }
    }
}

TEMPLATE_TEST_CASE("filters and windows are packed into rows in the requested GemmK order", "", float, fk::half,
                   fk::int8) {
    using Acc = fk::detail::AccumulatorOf<TestType>;
    std::int64_t const channels = lanes + 5;
    for (bool const last : {false, true}) {
        auto const x = last ? fk::nhwc(2, 4, 5, 2 * channels) : fk::nchw(2, 2 * channels, 4, 5);
        auto const w = last ? fk::krsc(2, 2, 3, channels) : fk::kcrs(2, channels, 2, 3);
        auto const filter = fk::filter(2, 3).pad(1).stride(2, 1).dilation(1, 2).groups(2);
        Conv<TestType> const conv(x, w, {{2, 2, 3, 3}}, filter);
        auto const gemm_k = static_cast<std::size_t>(conv.problem.gemm_k());
        int wrong = 0;
        for (GemmKOrder const order : {GemmKOrder{6, 1}, GemmKOrder{1, channels}}) {
            CHECK(weights_are(conv.problem, order) == (last == (order.channel == 1)));
            std::vector<Acc> row(gemm_k, Acc{-999});
            pack_weight_row(row.data(), conv.problem, 1, 0, order);
            for (int tap = 0; tap < 6; ++tap)
                for (std::int64_t c = 0; c < channels; ++c)
                    wrong += row[static_cast<std::size_t>(c * order.channel + tap * order.tap)] !=
                             fk::detail::widened(conv.problem.w(1, c, tap / 3, tap % 3));
        }
        CHECK(wrong == 0);
        for (std::int64_t m = 0; m < conv.problem.gemm_m(); ++m) {
            Pixel const at = conv.problem.pixel(m);
            std::vector<Acc> row(gemm_k, Acc{-999});
            pack_pixel_row(row.data(), conv.problem, at, channels);
            for (int tap = 0; tap < 6; ++tap)
                for (std::int64_t c = 0; c < channels; ++c)
                    wrong += row[static_cast<std::size_t>(tap * channels + c)] !=
                             conv.under(at, channels + c, tap / 3, tap % 3);
        }
        CHECK(wrong == 0);
    }
}

TEMPLATE_TEST_CASE("windows of adjacent pixels fill panels from any first to any last pixel", "", float, fk::half,
                   fk::int8) {
    using Acc = fk::detail::AccumulatorOf<TestType>;
    std::int64_t const channels = 3, width = 2 * tile_columns + 5;
    for (int const step : {1, 2}) {
        auto const filter = fk::filter(2, 3).pad(1).stride(1, step);
        Conv<TestType> const conv(fk::nchw(2, channels + 1, 3, width), fk::kcrs(1, channels, 2, 3),
                                  {{2, 1, 4, filter.output(1, width)}}, filter);
        std::int64_t const gemm_k = conv.problem.gemm_k(), panels = 4, columns = conv.problem.y[3];
        for (GemmKOrder const order : {GemmKOrder{6, 1}, GemmKOrder{1, channels}})
            for (Run const& run :
                 {Run{{1, 0, 0}, 0, static_cast<int>(columns)}, Run{{0, 3, 2}, 3, static_cast<int>(columns) - 2},
                  Run{{1, 2, columns - 2}, tile_columns - 1, 2}, Run{{0, 1, 0}, tile_columns + 1, 1}}) {
                std::vector<Acc> packed(static_cast<std::size_t>(panels * gemm_k * tile_columns), Acc{-999});
                std::vector<Piece> pieces(static_cast<std::size_t>(6 * pieces_per_tap(panels)));
                pack_pixel_panels(packed.data(), conv.problem, 1, order, run, pieces.data());
                std::vector<Acc> expected(packed.size(), Acc{-999});
                for (int i = 0; i < run.count; ++i)
                    for (std::int64_t c = 0; c < channels; ++c)
                        for (int tap = 0; tap < 6; ++tap) {
                            int const pixel = run.first + i;
                            auto const k = c * order.channel + tap * order.tap;
                            expected[static_cast<std::size_t>((pixel / tile_columns * gemm_k + k) * tile_columns +
                                                              pixel % tile_columns)] =
                                conv.under({run.at.n, run.at.p, run.at.q + i}, 1 + c, tap / 3, tap % 3);
                        }
                CAPTURE(step, order.channel, run.first, run.count);
                CHECK(packed == expected);
            }
    }
}
