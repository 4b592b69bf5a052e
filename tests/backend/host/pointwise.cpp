// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/pointwise.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support/host_loops.hpp"

using namespace test;
using fk::host::lanes;

namespace {

using Epilogue = fk::Epilogue<fk::Bias, fk::Residual>;

/// How many elements of y = x + bias + 2 z a run writes wrong, or writes that are none. z lies as y does.
int wrong(fk::Layout<4> const& x, fk::Layout<4> const& y, int threads) {
    auto const in = small_integers(x.span(), 1), bias = small_integers(y.shape[1], 2), z = small_integers(y.span(), 3);
    std::vector<float> out(static_cast<std::size_t>(y.span()), 1e30f), expected = out;
    Epilogue::Args const args{{{fk::TensorView<float const, 1>(bias.data(), fk::channels(y.shape[1]))}},
                              {{.z = fk::TensorView<float const>(z.data(), y), .alpha2 = 2}}};
    run_loop(fk::host::Pointwise<Epilogue, float, float>(fk::TensorView<float const>(in.data(), x),
                                                         fk::TensorView<float>(out.data(), y), args),
             threads);
    for (std::int64_t n = 0; n < y.shape[0]; ++n)
        for (std::int64_t k = 0; k < y.shape[1]; ++k)
            for (std::int64_t p = 0; p < y.shape[2]; ++p)
                for (std::int64_t q = 0; q < y.shape[3]; ++q) {
                    auto const place = static_cast<std::size_t>(y.offset({{n, k, p, q}}));
                    expected[place] = in[static_cast<std::size_t>(x.offset({{n, k, p, q}}))] +
                                      bias[static_cast<std::size_t>(k)] + 2 * z[place];
                }
    int count = 0;
    for (std::size_t i = 0; i < out.size(); ++i) count += out[i] != expected[i];
    return count;
}

}  // namespace

TEST_CASE("pointwise: lines of every length, along channels and along pixels") {
    for (std::int64_t const count : {1, 2, lanes - 1, lanes, lanes + 1, 4 * lanes - 1, 4 * lanes + 3}) {
        INFO(count);
        CHECK(wrong(fk::nchw(2, 3, 1, count), fk::nchw(2, 3, 1, count), 1) == 0);
        CHECK(wrong(fk::nhwc(2, 2, 3, count), fk::nhwc(2, 2, 3, count), 2) == 0);
        CHECK(wrong(fk::nhwc(2, 2, count, 3), fk::nchw(2, 3, 2, count), 2) == 0);
        CHECK(wrong(fk::nchw(2, count, 2, 3), fk::nhwc(2, 2, 3, count), 1) == 0);
    }
}

TEST_CASE("pointwise: planes with gaps, and elements apart") {
    auto gaps = fk::nchw(2, 3, 5, 2 * lanes + 1);
    gaps.stride = {{4000, 1000, 2 * lanes + 7, 1}};
    auto apart = gaps;
    for (std::int64_t& stride : apart.stride.values) stride *= 2;
    auto const dense = fk::nchw(2, 3, 5, 2 * lanes + 1);
    for (auto const& x : {dense, gaps, apart})
        for (auto const& y : {dense, gaps, apart}) CHECK(wrong(x, y, 3) == 0);
}

TEST_CASE("pointwise: more channels than an item prepares, and more rows than one takes") {
    CHECK(wrong(fk::nchw(1, 300, 1, 5), fk::nchw(1, 300, 1, 5), 2) == 0);
    CHECK(wrong(fk::nhwc(3, 40, 40, 9), fk::nhwc(3, 40, 40, 9), 3) == 0);
    CHECK(wrong(fk::nchw(3, 9, 40, 40), fk::nchw(3, 9, 40, 40), 3) == 0);
}
