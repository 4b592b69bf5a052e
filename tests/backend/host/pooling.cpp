// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/pooling.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "support/host_loops.hpp"

using namespace test;
using fk::host::lanes;

namespace {

/// How many outputs of a plan of Bias and a pool are wrong. `reduce` is of the values of a window.
template <class Pool, class Reduce>
int wrong(fk::Layout<4> const& x, bool y_last, std::int64_t height, std::int64_t width, Reduce const& reduce) {
    using Plan = fk::Plan<fk::Bias, Pool>;
    std::int64_t const channels = x.shape[1], rows = x.shape[2] / height, columns = x.shape[3] / width;
    auto const y =
        y_last ? fk::nhwc(x.shape[0], rows, columns, channels) : fk::nchw(x.shape[0], channels, rows, columns);
    auto const in = small_integers(x.span(), 1), bias = small_integers(channels, 2);
    std::vector<float> out(static_cast<std::size_t>(y.span()), 1e30f);
    typename Plan::Epilogue::Args const args{{{fk::TensorView<float const, 1>(bias.data(), fk::channels(channels))}},
                                             {}};
    run_loop(fk::host::Pooling<Plan, float, float>(args, fk::TensorView<float const>(in.data(), x),
                                                   fk::TensorView<float>(out.data(), y)),
             2);
    int count = 0;
    for (std::int64_t n = 0; n < y.shape[0]; ++n)
        for (std::int64_t k = 0; k < channels; ++k)
            for (std::int64_t p = 0; p < rows; ++p)
                for (std::int64_t q = 0; q < columns; ++q) {
                    std::vector<float> window;
                    for (std::int64_t i = 0; i < height; ++i)
                        for (std::int64_t j = 0; j < width; ++j)
                            window.push_back(
                                in[static_cast<std::size_t>(x.offset({{n, k, p * height + i, q * width + j}}))] +
                                bias[static_cast<std::size_t>(k)]);
                    count += out[static_cast<std::size_t>(y.offset({{n, k, p, q}}))] != reduce(window);
                }
    return count;
}

float largest(std::vector<float> const& window) { return *std::max_element(window.begin(), window.end()); }
float mean(std::vector<float> const& window) {
    float sum = 0;
    for (float const value : window) sum += value;
    return sum / static_cast<float>(window.size());
}

}  // namespace

TEST_CASE("pools of 2 x 2 and of whole planes, of vectors that are full, one short and one over") {
    for (std::int64_t const count : {1, lanes - 1, lanes, lanes + 1, 2 * lanes + 3})
        for (bool const y_last : {true, false}) {
            INFO(count);
            for (auto const& x : {fk::nhwc(2, 4, 6, count), fk::nchw(2, 3, 4, 2 * count)}) {
                CHECK(wrong<fk::Pool<fk::Max, 2, 2>>(x, y_last, 2, 2, largest) == 0);
                CHECK(wrong<fk::Pool<fk::Average, 2, 2>>(x, y_last, 2, 2, mean) == 0);
            }
            CHECK(wrong<fk::GlobalAverage>(fk::nhwc(2, 3, 5, count), y_last, 3, 5, mean) == 0);
            CHECK(wrong<fk::GlobalAverage>(fk::nchw(2, 3, 5, count), y_last, 5, count, mean) == 0);
        }
}
