// SPDX-License-Identifier: MIT
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "backend/hip/gpu.hpp"

using namespace test;

namespace {

/// Outputs of a few layers, concatenated: of the last of several runs.
std::vector<float> outputs(fk::hip::Device& device) {
    std::vector<float> all;
    auto const keep = [&](auto const& y) {
        std::size_t const first = all.size();
        all.resize(first + static_cast<std::size_t>(y.size()));
        y.copy_to(all.data() + first);
    };
    auto const x = fk::random<float>(device, fk::nchw(2, 19, 15, 13)),
               z = fk::random<float>(device, fk::nchw(2, 33, 15, 13), 2);
    auto const w = fk::random<float>(device, fk::kcrs(33, 19, 3, 3), 3);
    auto const b = fk::random<float>(device, fk::channels(33), 4);
    auto const conv =
        fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Residual, fk::Activation<fk::Silu>>::bind(
            {.weights = w}, {.bias = b}, {.z = z}, {});
    auto const pointwise = fk::Plan<fk::Bias, fk::Activation<fk::Tanh>>::bind({.bias = b}, {});
    for (int run = 0; run < 3; ++run) {
        auto const y = conv(device, x);
        auto const v = pointwise(device, y);
        if (run == 2) keep(y), keep(v);
    }
    return all;
}

/// Runs the layers from two threads concurrently, each with its own device.
void check_together(int first, int second) {
    fk::hip::Device alone(first);
    std::vector<float> const expected = outputs(alone);
    std::vector<float> got[2];
    std::thread threads[2];
    for (int t = 0; t < 2; ++t)
        threads[t] = std::thread([&, t] {
            fk::hip::Device device(t ? second : first);
            got[t] = outputs(device);
        });
    for (std::thread& thread : threads) thread.join();
    for (auto const& values : got) {
        REQUIRE(values.size() == expected.size());
        CHECK(std::memcmp(values.data(), expected.data(), expected.size() * sizeof(float)) == 0);
    }
}

}  // namespace

TEST_CASE("HIP: two threads with a stream each are bitwise identical to one") {
    int const index = gpu().index();
    for (int round = 0; round < 2; ++round) check_together(index, index);
}

TEST_CASE("HIP: two devices and two threads are bitwise identical to one") {
    int const index = gpu(1).index();
    for (int round = 0; round < 2; ++round) check_together(0, index);
}
