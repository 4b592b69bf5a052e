// SPDX-License-Identifier: MIT
// Runs tests of tests/ops/batch_norm/channel_statistics.cpp on a GPU.
#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "backend/hip/runner.hpp"
#include "backend/hip/waves.hpp"
#include "support/collected_channels.hpp"

using namespace test;

TEST_CASE("HIP: ChannelStatistics total the values at their position, in every layout and type") {
    fk::hip::Device device = gpu();
    check_channel_statistics(device, pairs_on(device));
    check_statistics_feed_batch_norm(device);
}

TEST_CASE("HIP: ChannelStatistics after a convolution agree with the oracle") {
    fk::hip::Device device = gpu();
    check_conv_channel_statistics(device, pairs_on(device));
    check_exact_statistics(device, "nchw");
    check_exact_statistics(device, "nhwc");
}

TEST_CASE("HIP: statistics of a convolution are bitwise identical in every graph replay") {
    fk::hip::Device device = gpu();
    Runner runner(device, GRAPH_REPLAYS < 5 ? GRAPH_REPLAYS : 5);
    Pairs pairs = pairs_on(device);
    for (char const* layout : {"nchw", "nhwc"}) {
        for (std::int64_t const groups : {1, 9}) {
            if (!pairs.runs()) continue;
            CollectedConv const about{{2, 9, 17, 19}, 72, {.r = 3, .s = 3, .top = 1, .bottom = 1, .groups = groups}};
            auto const check = [&](auto& with) {
                check_conv_statistics<fk::Conv<fk::dynamic>, float, 4>(with, layout, layout, about);
            };
            check(device);  // allocates the workspace
            check(runner);
        }
        pairs.next(2);
    }
}
