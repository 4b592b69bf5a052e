// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/run.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "fusekit/fusekit.hpp"
#include "support/far_operands.hpp"
#include "support/user_operators.hpp"

namespace fk = fusekit;

TEST_CASE("users' operators of every form get their coordinate, in every layout") {
    fk::host::Device device(2);
    for (bool const last : {true, false}) CHECK(test::wrong_outputs_of_user_operators(device, last) == 0);
}

TEMPLATE_TEST_CASE("users' operators load per-channel parameters at a coordinate", "", float, fk::half, fk::bfloat16,
                   fk::int8, double) {
    fk::host::Device device(2);
    for (bool const last : {true, false}) {
        if constexpr (!std::is_same_v<TestType, double>)  // double requires double x
            CHECK(test::wrong_outputs_of_channel_loads<TestType>(device, last) == 0);
        CHECK(test::wrong_outputs_of_channel_loads<TestType, double>(device, last) == 0);
    }
}

TEST_CASE("results do not depend on earlier runs on the device") {
    fk::host::Device device(2), fresh(2);
    auto const large = fk::random<float>(device, fk::nchw(1, 64, 20, 20)),
               small = fk::random<float>(device, fk::nhwc(1, 3, 3, 5), 2);
    auto const w_large = fk::random<float>(device, fk::kcrs(64, 64, 3, 3)),
               w_small = fk::random<float>(device, fk::kcrs(3, 5, 2, 2), 3);
    using Layer = fk::Plan<fk::Conv<fk::dynamic>>;
    auto const first = Layer::bind({.weights = w_small, .filter = fk::filter(2, 2).pad(1)});
    auto const expected = first(fresh, small);
    (void)Layer::bind({.weights = w_large, .filter = fk::filter(3, 3).pad(1)})(device, large);
    auto const got = first(device, small);
    for (std::int64_t i = 0; i < got.size(); ++i) REQUIRE(got.data()[i] == expected.data()[i]);
}

TEMPLATE_TEST_CASE("operands with offsets beyond 2^31 are computed", "", float, fk::half) {
    fk::host::Device device(2);
    test::FarMemory memory(device);
    test::check_far_convs<TestType>(memory, device, false);
    test::check_far_images<TestType>(memory, device);
}
