// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/depthwise_channel_lanes.hpp"
#include "fusekit/backend/host/depthwise_pixel_lanes.hpp"

#include "support/host_loops.hpp"

using namespace test;
using fk::host::depthwise_columns, fk::host::depthwise_tiles, fk::host::depthwise_vectors, fk::host::lanes;

namespace {

constexpr auto channel_lanes = [](int threads) {
    return [threads](auto const& problem, auto const& args, auto const& y) {
        return fk::host::DepthwiseChannelLanes<LoopCase::Epilogue, float, float, 2>(threads, problem, args, y);
    };
};
constexpr auto pixel_lanes = [](int threads) {
    return [threads](auto const& problem, auto const& args, auto const& y) {
        return fk::host::DepthwisePixelLanes<LoopCase::Epilogue, float, float, 2>(threads, problem, args, y);
    };
};

}  // namespace

TEST_CASE("depthwise: vectors that are full, one short and one over, with lanes along channels and along pixels") {
    oracle::Window const skewed{
        .r = 2, .s = 5, .top = 3, .left = 3, .bottom = 3, .right = 3, .u = 2, .v = 3, .groups = 7};
    for (int const count : {2, lanes - 1, lanes, lanes + 1, 3 * lanes + 2}) {
        oracle::Window const window{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1, .groups = count};
        oracle::Shape const many_channels{2, count, 5, 6}, many_pixels{1, 7, 4, count + 2};
        INFO(count);
        for (char const* x : {"nhwc", "nchw"}) {
            CHECK(difference_of_loop({many_channels, count, window, x, "nchw", "nhwc"}, 2, channel_lanes(2)) == "");
            CHECK(difference_of_loop({many_channels, count, window, x, "nchw", "nchw"}, 2, pixel_lanes(2)) == "");
            CHECK(difference_of_loop({many_pixels, 7, skewed, x, "nchw", "nhwc"}, 1, channel_lanes(1)) == "");
            CHECK(difference_of_loop({many_pixels, 7, skewed, x, "nchw", "nchw"}, 1, pixel_lanes(1)) == "");
        }
    }
}

TEST_CASE("depthwise along channels: windows of every kernel, at channels and columns one short and one over a tile") {
    for (int const side : {1, 3, 5, 7})
        for (int const step : {1, 2, 3})
            for (int const dilation : {1, 2})
                for (int const count : {lanes - 1, lanes, lanes + 1, 2 * lanes + 3}) {
                    int const pad = side / 2 * dilation;
                    oracle::Window const window{.r = side,
                                                .s = side,
                                                .top = pad,
                                                .left = pad + 1,
                                                .bottom = pad,
                                                .right = pad,
                                                .u = step,
                                                .v = step,
                                                .d = dilation,
                                                .e = dilation,
                                                .groups = count};
                    INFO(side << " x " << side << ", stride " << step << ", dilation " << dilation << ", " << count);
                    for (std::int64_t const width : {depthwise_columns, depthwise_columns + 1})
                        CHECK(
                            difference_of_loop({{1, count, 3, width * step + 6}, count, window, "nhwc", "nchw", "nhwc"},
                                               1, channel_lanes(1)) == "");
                }
}

TEST_CASE("depthwise along channels: rows longer than a chunk, many rows per item, and taps far apart") {
    constexpr int chunk = depthwise_tiles * depthwise_columns;
    oracle::Window const plain{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1, .groups = lanes};
    oracle::Window const spread{
        .r = 2, .s = 2, .top = 0, .left = 100, .bottom = 0, .right = 100, .e = 150, .groups = 9};
    for (std::int64_t const width : {chunk - 1, chunk, chunk + 1, 2 * chunk + 3}) {
        INFO(width);
        CHECK(difference_of_loop({{1, lanes, 3, width}, lanes, plain, "nhwc", "nhwc", "nhwc"}, 2, channel_lanes(2)) ==
              "");
        CHECK(difference_of_loop({{2, 9, 3, width}, 9, spread, "nhwc", "nchw", "nhwc"}, 1, channel_lanes(1)) == "");
    }
    CHECK(difference_of_loop({{2, (depthwise_vectors + 1) * lanes, 35, 2},
                              (depthwise_vectors + 1) * lanes,
                              {.r = 3, .s = 1, .top = 1, .bottom = 1, .groups = (depthwise_vectors + 1) * lanes},
                              "nhwc",
                              "nchw",
                              "nhwc"},
                             2, channel_lanes(2)) == "");
    std::int64_t const several = 2 * depthwise_vectors * lanes + 3;
    CHECK(difference_of_loop({{1, several, 3, 2 * depthwise_columns + 1},
                              several,
                              {.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1, .groups = several},
                              "nhwc",
                              "nchw",
                              "nhwc"},
                             1, channel_lanes(1)) == "");
}

TEST_CASE("depthwise along pixels: rows beyond the buffered columns, phases of strides, dilations and tall windows") {
    oracle::Window const plain{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1, .groups = 2};
    oracle::Window const strided{
        .r = 4, .s = 3, .top = 3, .left = 2, .bottom = 1, .right = 4, .u = 3, .v = 2, .d = 2, .e = 3, .groups = 2};
    oracle::Window const taller{.r = 7, .s = 1, .top = 6, .left = 0, .bottom = 6, .right = 0, .groups = 2};
    for (std::int64_t const width : {1022, 1024, 1025, 2051}) {
        INFO(width);
        CHECK(difference_of_loop({{1, 2, 3, width}, 2, plain, "nchw", "nchw", "nchw"}, 2, pixel_lanes(2)) == "");
        CHECK(difference_of_loop({{2, 2, 9, width}, 2, strided, "nhwc", "nchw", "nchw"}, 1, pixel_lanes(1)) == "");
    }
    CHECK(difference_of_loop({{2, 2, 2, 5}, 2, taller, "nchw", "nchw", "nchw"}, 2, pixel_lanes(2)) == "");
}

TEST_CASE("depthwise: taps so far apart that rows are not buffered") {
    fk::host::Device device(2);
    std::vector<float> values(2 * 4200), weights{2, -1, 3, 1};
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 11) - 5;
    fk::Tensor<float, fk::host::Device> x(device, fk::nchw(1, 2, 1, 4200)), w(device, fk::kcrs(2, 1, 1, 2));
    x.copy_from(values.data()), w.copy_from(weights.data());
    auto const check = [&](auto layer, std::size_t distance) {
        auto const y = layer(device, x);
        std::size_t const width = 4200 - distance;
        REQUIRE(y.layout().shape == fk::Index<4>{{1, 2, 1, static_cast<std::int64_t>(width)}});
        std::vector<float> results(2 * width);
        y.copy_to(results.data());
        for (std::size_t k = 0; k < 2; ++k)
            for (std::size_t q = 0; q < width; ++q) {
                float const* const at = &values[k * 4200 + q];
                CHECK(results[k * width + q] == at[0] * weights[2 * k] + at[distance] * weights[2 * k + 1]);
            }
    };
    check(fk::Plan<fk::Conv<fk::filter(1, 2).dilation(1, 4095).groups(2)>>::bind({.weights = w}), 4095);
    check(fk::Plan<fk::Conv<fk::filter(1, 2).dilation(1, 4096).groups(2)>>::bind({.weights = w}), 4096);
}
