// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/dispatch/prepare.hpp"

#include <vector>

#include "backend/hip/gpu.hpp"
#include "support/user_operators.hpp"

using namespace test;

TEST_CASE("HIP: users' operators of every form get their coordinate, in every layout") {
    fk::hip::Device device = gpu();
    for (bool const last : {true, false}) CHECK(wrong_outputs_of_user_operators(device, last) == 0);
}

TEST_CASE("HIP: users' operators load per-channel parameters at a coordinate") {
    fk::hip::Device device = gpu();
    for (bool const last : {true, false}) {
        CHECK(wrong_outputs_of_channel_loads<float>(device, last) == 0);
        CHECK(wrong_outputs_of_channel_loads<fk::half>(device, last) == 0);
    }
}

TEST_CASE("HIP: every run is bitwise identical") {
    fk::hip::Device device = gpu();
    auto const x = fk::random<float>(device, fk::nhwc(2, 13, 11, 37)),
               w = fk::random<float>(device, fk::krsc(70, 3, 3, 37), 2);
    auto const layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>::bind({.weights = w});
    auto const first = layer(device, x);
    std::vector<float> expected(static_cast<std::size_t>(first.size())), got(expected.size());
    first.copy_to(expected.data());
    for (int run = 0; run < 10; ++run) {
        auto const y = layer(device, x);
        y.copy_to(got.data());
        REQUIRE(got == expected);
    }
}
