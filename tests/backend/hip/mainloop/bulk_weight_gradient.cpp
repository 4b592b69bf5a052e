// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/bulk_weight_gradient.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/sm90a_device.hpp"
#include "support/weight_gradients.hpp"

using namespace test;

// Tiles that channels do not fill, with a column of ones in the first block of a tile and in the second; strides,
// dilations and uneven padding; and pixels of several blocks, of which the last has the least.
TEMPLATE_TEST_CASE("HIP: gradients by the weights on sm_90a's matrix units are what the oracle computes", "", fk::half,
                   (Types<fk::bfloat16, float>)) {
    fk::hip::Device device = sm90a_device();
    check_weight_gradient<TestType, fk::filter(1, 1)>(device, {{3, 72, 7, 9}, 136, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<TestType, fk::filter(3, 3).pad(1)>(device, {{2, 8, 13, 11}, 72, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<TestType, fk::filter(3, 2).pad(2, 0, 1, 1).stride(2, 1).dilation(1, 2)>(
        device, {{3, 16, 8, 9}, 8, "nhwc", "nhwc", "nchw*2"});
    check_weight_gradient<TestType, fk::filter(1, 1).stride(2)>(device, {{9, 24, 23, 19}, 40, "nhwc", "nhwc", "nchw"});
}

TEST_CASE("HIP: blocks share the pixels of a gradient on matrix units as long as tiles do not fill the processors") {
    using fusekit::hip::detail::choose_bulk_parts;
    auto const parts = [](std::int64_t tiles, std::int64_t steps, std::int64_t room) {
        auto const chosen = choose_bulk_parts(tiles, steps, 132, room);
        return std::pair(chosen.cluster, chosen.groups);
    };
    CHECK(parts(132, 100, 1000) == std::pair(1u, 1u));
    CHECK(parts(36, 98, 0) == std::pair(3u, 1u));
    CHECK(parts(5, 1513, 0) == std::pair(8u, 1u));
    CHECK(parts(5, 1513, 15) == std::pair(8u, 3u));
    CHECK(parts(1, 2, 15) == std::pair(1u, 1u));
}
