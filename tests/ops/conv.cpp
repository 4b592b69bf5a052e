// SPDX-License-Identifier: MIT
#include "fusekit/ops/conv.hpp"

#include <catch2/catch_test_macros.hpp>
#include <climits>

#include "support/infinite_values.hpp"
#include "support/refusal.hpp"
#include "support/static_geometries.hpp"

using namespace test;

TEST_CASE("convolutions of geometries known at compile time compute what the oracle does") {
    fk::host::Device one(1), two(2);
    check_geometries([&](std::uint64_t seed) -> fk::host::Device& { return seed % 2 ? one : two; });
}

TEST_CASE("padding is zeros times weights: infinity and NaN agree on every path") {
    fk::host::Device device(2);
    check_infinite_values<float>(device);
    check_infinite_values<double>(device);
}

TEST_CASE("a convolution's name has its geometry") {
    CHECK(fk::type_name<fk::Conv<fk::filter(3, 3).pad(1)>>() == "Conv<filter(3, 3).pad(1)>");
    CHECK(fk::type_name<fk::Conv<fk::dynamic>>() == "Conv<dynamic>");
}

TEST_CASE("views may have negative and zero strides") {
    fk::host::Device device(2);
    float numbers[] = {1, 2, 3, 4, 5, 6};
    float const ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    fk::TensorView<float const> const backwards(numbers + 5, {{{1, 1, 2, 3}}, {{-6, -6, -3, -1}}});
    fk::TensorView<float const> const repeated(numbers, {{{2, 3, 2, 3}}, {{0, 0, 3, 1}}});
    fk::TensorView<float const> const one_weight(ones, {{{4, 3, 1, 1}}, {{0, 0, 0, 0}}});
    fk::TensorView<float const> const nine(ones, fk::kcrs(1, 1, 3, 3));
    auto const sum = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>::bind({.weights = nine})(device, backwards);
    float const sums[] = {16, 21, 12, 16, 21, 12};  // of 6 5 4 / 3 2 1
    for (int i = 0; i < 6; ++i) CHECK(sum.data()[i] == sums[i]);
    auto const mix = fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = one_weight})(device, repeated);
    for (int i = 0; i < 48; ++i) CHECK(mix.const_view()(i / 24, i / 6 % 4, i / 3 % 2, i % 3) == 3 * numbers[i % 6]);
}

TEST_CASE("filters of arbitrary numbers run or are refused") {
    fk::host::Device device(1);
    using Plan = fk::Plan<fk::Conv<fk::dynamic>>;
    float in[25] = {}, out[25] = {};
    float const nine[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    fk::TensorView<float const> const x(in, fk::nchw(1, 1, 5, 5)), w(nine, fk::kcrs(1, 1, 3, 3));
    fk::TensorView<float> const y(out, fk::nchw(1, 1, 5, 5));
    int refused = 0, ran = 0;
    for (int const size : {INT_MIN, -1, 0, 3, INT_MAX})
        for (int const step : {INT_MIN, 0, 1, INT_MAX})
            for (int const spread : {INT_MIN, 0, 1, INT_MAX})
                for (int const before : {INT_MIN, -1, 1, INT_MAX})
                    for (int const after : {INT_MIN, -1, 1, INT_MAX})
                        for (int const groups : {INT_MIN, 0, 1, INT_MAX}) {
                            auto const f = fk::filter(3, size).pad(1, before, 1, after).stride(1, step);
                            auto const layer =
                                Plan::bind({.weights = w, .filter = f.dilation(1, spread).groups(groups)});
                            ++(refusal([&] { layer(device, x, y); }) == "accepted" ? ran : refused);
                        }
    CHECK(ran == 2);  // a 3 x 3 filter, and one whose outer columns are INT_MAX apart, with as much padding
    CHECK(refused == 5 * 4 * 4 * 4 * 4 * 4 - 2);
}
