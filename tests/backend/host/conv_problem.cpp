// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/conv_problem.hpp"

#include <catch2/catch_test_macros.hpp>

#include "fusekit/tensor/collapse.hpp"

namespace fk = fusekit;
using namespace fk::host;

namespace {

template <int Space>
ConvProblem<float, Space> problem(fk::Layout<Space + 2> const& x, fk::Layout<Space + 2> const& w,
                                  fk::Layout<Space + 2> const& y, fk::Filter<Space> const& filter) {
    auto const in = fk::detail::collapse<4>(x), out = fk::detail::collapse<4>(y);
    return {{{nullptr, in.layout()}, {nullptr, fk::detail::collapse<4>(w).layout()}, out.shape, filter},
            {in.shape, out.shape}};
}

}  // namespace

TEST_CASE("a tap's coordinate follows stride, dilation and padding") {
    auto const conv = problem<2>(fk::nchw(1, 1, 5, 7), fk::kcrs(1, 1, 3, 3), fk::nchw(1, 1, 4, 4),
                                 fk::filter(3, 3).pad(2, 1).stride(2, 3).dilation(1, 2));
    CHECK(conv.row(0, 0) == -2);
    CHECK(conv.row(3, 2) == 6);
    CHECK(conv.column(0, 0) == -1);
    CHECK(conv.column(2, 1) == 7);
    CHECK(conv.column_step() == 3);
    CHECK_FALSE(conv.has_row(-2));
    CHECK((conv.has_row(0) && conv.has_row(4)));
    CHECK_FALSE(conv.has_row(5));
    CHECK((conv.has_column(6) && !conv.has_column(7)));
}

TEST_CASE("a volume's rows are those of its slices, and windows do not cross slices") {
    auto const filter = fk::filter(2, 3, 1).pad(1, 1, 0).stride(1, 2, 1);
    auto const conv = problem<3>(fk::ncdhw(1, 1, 3, 5, 2), fk::kctrs(1, 1, 2, 3, 1), fk::ncdhw(1, 1, 4, 3, 2), filter);
    for (int slice = 0; slice < 4; ++slice)
        for (int p = 0; p < 3; ++p)
            for (int t = 0; t < 2; ++t)
                for (int r = 0; r < 3; ++r) {
                    int const d = slice - 1 + t, h = 2 * p - 1 + r;
                    bool const inside = d >= 0 && d < 3 && h >= 0 && h < 5;
                    auto const row = conv.row(slice * 3 + p, t * 3 + r);
                    CHECK(conv.has_row(row) == inside);
                    if (inside) CHECK(row == d * 5 + h);
                }
}

TEST_CASE("a convolution of single pixels over planes without gaps has one long row") {
    auto const single = fk::filter(1, 1);
    auto flat = [&](fk::Layout<4> const& x, fk::Layout<4> const& y, fk::Filter<2> const& f) {
        return flattened(problem<2>(x, fk::kcrs(3, 2, 1, 1), y, f), fk::TensorView<float>(nullptr, y));
    };
    auto const one = flat(fk::nchw(2, 2, 4, 5), fk::nhwc(2, 4, 5, 3), single);
    CHECK(
        (one.conv.x.layout.shape == fk::Index<4>{{2, 2, 1, 20}} && one.y.layout.shape == fk::Index<4>{{2, 3, 1, 20}}));
    CHECK(one.conv.y == fk::Index<4>{{2, 3, 1, 20}});
    CHECK(flat(fk::nchw(2, 2, 4, 5), fk::nchw(2, 3, 4, 5), single.pad(1)).conv.y[2] == 4);
    fk::Layout<4> const gaps{{{2, 2, 4, 5}}, {{48, 24, 6, 1}}};
    CHECK(flat(gaps, fk::nchw(2, 3, 4, 5), single).conv.y[2] == 4);
}
