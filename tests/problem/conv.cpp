// SPDX-License-Identifier: MIT
#include "fusekit/problem/conv.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <vector>

#include "fusekit/tensor/collapse.hpp"

namespace fk = fusekit;

namespace {

template <class Int, int Space>
fk::problem::ConvProblem<float, Space, Int> problem(fk::Layout<Space + 2> const& x, fk::Layout<Space + 2> const& w,
                                                    fk::Layout<Space + 2> const& y, fk::Filter<Space> const& filter) {
    return {{nullptr, fk::detail::collapse<4>(x).layout()},
            {nullptr, fk::detail::collapse<4>(w).layout()},
            fk::detail::collapse<4>(y).shape,
            filter};
}

}  // namespace

TEMPLATE_TEST_CASE("a convolution's GemmM, GemmN and GemmK are its extents", "", std::int32_t, std::int64_t) {
    auto const conv = problem<TestType, 2>(fk::nchw(2, 6, 5, 4), fk::kcrs(4, 3, 3, 2), fk::nchw(2, 4, 3, 5),
                                           fk::filter(3, 2).groups(2));
    CHECK(conv.groups() == 2);
    CHECK(conv.group_c() == 3);
    CHECK(conv.group_k() == 2);
    CHECK((conv.window_rows() == 3 && conv.window_columns() == 2));
    CHECK(conv.taps() == 6);
    CHECK(conv.gemm_m() == 30);
    CHECK(conv.gemm_k() == 18);
    auto const of_volumes = problem<TestType, 3>(fk::ndhwc(2, 4, 5, 6, 3), fk::kctrs(7, 3, 2, 3, 5),
                                                 fk::ncdhw(2, 7, 3, 3, 2), fk::filter(2, 3, 5));
    CHECK((of_volumes.window_rows() == 6 && of_volumes.window_columns() == 5));
    CHECK(of_volumes.gemm_m() == 2 * 3 * 3 * 2);
    CHECK(of_volumes.gemm_k() == 3 * 30);
}

TEST_CASE("a transposed convolution's group starts at its own range of K") {
    float const weights[6 * 5 * 3 * 2] = {};
    fk::Layout<4> const forward = fk::krsc(6, 3, 2, 5),  // two groups of 3 of K and 5 of C
        back{{{5, 3, 3, 2}}, {{forward.stride[1], forward.stride[0], forward.stride[2], forward.stride[3]}}};
    fk::problem::ConvProblem<float, 2, std::int32_t, float, fk::problem::ChannelGroups,
                             fk::detail::TransposedFilter<2, false>> const conv{
        {nullptr, fk::nchw(2, 6, 3, 5)},
        {weights, back},
        {{2, 10, 5, 6}},
        fk::detail::TransposedFilter<2, false>(fk::filter(3, 2).groups(2))};
    CHECK((conv.group_c() == 3 && conv.group_k() == 5 && conv.gemm_k() == 18));
    CHECK((conv.weights_of(0) == weights && conv.weights_of(1) == weights + 3 * forward.stride[0]));
}

TEMPLATE_TEST_CASE("pixels are counted row by row and image by image", "", std::int32_t, std::int64_t) {
    auto const conv =
        problem<TestType, 2>(fk::nchw(2, 1, 4, 6), fk::kcrs(1, 1, 1, 1), fk::nchw(2, 1, 4, 6), fk::filter(1, 1));
    fk::problem::PixelOf<TestType> walked{0, 0, 0};
    std::vector<int> windows(48);
    for (TestType m = 0; m < 48; ++m) {
        auto const at = conv.pixel(m);
        CHECK((at.n == m / 24 && at.p == m / 6 % 4 && at.q == m % 6));
        CHECK((walked.n == at.n && walked.p == at.p && walked.q == at.q));
        walked = conv.next(walked);
        auto const in_window = conv.pixel_of_windows(m);
        ++windows[static_cast<std::size_t>((in_window.n * 4 + in_window.p) * 6 + in_window.q)];
        CHECK(in_window.n * 6 + in_window.p / 2 * 3 + in_window.q / 2 == m / 4);
        CHECK(in_window.p % 2 * 2 + in_window.q % 2 == m % 4);
    }
    CHECK(windows == std::vector<int>(48, 1));
}
