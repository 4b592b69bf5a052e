// SPDX-License-Identifier: MIT
#include "fusekit/ops/amax.hpp"

#include "support/amax_values.hpp"
#include "support/refusal.hpp"

using namespace test;

TEST_CASE("Amax finds the largest magnitude, on any number of threads") {
    for (int const threads : {1, 3}) {
        fk::host::Device device(threads);
        for (char const* layout : {"nchw", "nhwc"}) {
            check_amax<float, float>(device, layout, {2, 5, 7, 6}, 19, 0);
            check_amax<fk::e4m3, fk::half>(device, layout, {1, 3, 5, 9}, 4, 500);
        }
        check_amax_of_nan(device);
    }
}

TEST_CASE("Amax in a constant expression") {
    static constexpr auto x = fk::literal<fk::nchw(1, 1, 1, 3)>(1, -4, 2);
    static constexpr float largest = [] {
        float found = 3;
        static_cast<void>(fk::Plan<fk::Scale, fk::Amax>::evaluate(
            x, {.factor = 2}, {.amax = fk::TensorView<float, 1>(&found, fk::channels(1))}));
        return found;
    }();
    static_assert(largest == 8);
}

TEST_CASE("Amax refuses an output that is not one separate float") {
    fk::host::Device device(1);
    float numbers[12] = {};
    fk::TensorView<float> const x(numbers, fk::nchw(1, 1, 1, 4)), y(numbers + 4, fk::nchw(1, 1, 1, 4));
    auto const bind = [](float* amax, std::int64_t count) {
        return fk::Plan<fk::Amax>::bind({.amax = fk::TensorView<float, 1>(amax, fk::channels(count))});
    };
    CHECK(refusal([&] { bind(numbers + 8, 2)(device, x, y); }).find("Amax.amax: expected 1 (a float)") !=
          std::string::npos);
    CHECK(refusal([&] { bind(numbers + 5, 1)(device, x, y); }).find("memory apart from the output's") !=
          std::string::npos);
    CHECK(refusal([&] { bind(nullptr, 1)(device, x, y); }).find("a null pointer") != std::string::npos);
}

TEST_CASE("only weights, x and y may be 8-bit floats") {
    fk::host::Device device(1);
    fk::e4m3 const z[4] = {};
    float x[4] = {1, 2, 3, 4}, y[4] = {9, 9, 9, 9};
    auto const layout = fk::nchw(1, 1, 1, 4);
    auto const layer = fk::Plan<fk::Residual>::bind({.z = fk::TensorView<fk::e4m3 const>(z, layout)});
    CHECK(refusal([&] {
              layer(device, fk::TensorView<float>(x, layout), fk::TensorView<float>(y, layout));
          }).find("Residual.z: expected float, half, bfloat16 or int8, got e4m3") != std::string::npos);
    CHECK(y[0] == 9);
}
