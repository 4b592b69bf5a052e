// SPDX-License-Identifier: MIT
// What tests/ops/ tests on the host of operators with outputs of their own, and of pools.
#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/observed_channels.hpp"
#include "support/pooled_windows.hpp"
#include "support/stored_values.hpp"

using namespace test;

TEST_CASE("HIP: values and masks are stored where they stand in the plan, in every layout and type") {
    fk::hip::Device device = gpu();
    check_stored_values(device);
}

TEST_CASE("HIP: channels' statistics are those of the values that pass, in every layout and type") {
    fk::hip::Device device = gpu();
    check_channel_statistics(device);
    check_statistics_feed_batch_norm(device);
}

TEST_CASE("HIP: pools are of the values that reach them, in every layout and type") {
    fk::hip::Device device = gpu();
    check_pooled_windows(device);
    check_pooled_convs(device);
}
