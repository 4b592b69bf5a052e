// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/weight_gradient.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <cstring>

#include "backend/hip/gpu.hpp"
#include "backend/hip/one_gradient.hpp"
#include "support/half_types.hpp"
#include "support/weight_gradients.hpp"

using namespace test;

using Elements = AndBfloat16<float, Types<fk::half, float>>;

// float as the library chooses, which for 16 bits on sm_90a are other kernels.
TEMPLATE_LIST_TEST_CASE("HIP: weight gradients agree with the oracle", "", Elements) {
    fk::hip::Device device = gpu();
    OneGradient<TiledGradient> tiled(device);
    if constexpr (std::is_same_v<TestType, float>) check_weight_gradients<float>(device);
    else check_weight_gradients<TestType>(tiled);
}

TEST_CASE("HIP: a bias gradient is computed without weight gradients") {
    fk::hip::Device device = gpu();
    auto const x = fk::random<float>(device, fk::nchw(1, 2, 3, 3));
    auto const dy =
        fk::tensor<float>(device, fk::nchw(1, 2, 3, 3), {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1, 1, 1, 1, 1, 1, 2});
    fk::Tensor<float, fk::hip::Device, 1> db(device, fk::channels(2));
    fk::Plan<fk::ConvWeightGradient<fk::filter(1, 1)>>::bind({.dy = dy, .bias_gradient = db})(device, x, fk::no_output);
    float sums[2];
    db.copy_to(sums);
    CHECK(sums[0] == 45);
    CHECK(sums[1] == 10);
}

TEST_CASE("HIP: weight gradients are the adjoint: <dw, w> equals <dy, conv(x, w)>") {
    fk::hip::Device device = gpu();
    check_adjoint(device);
}

TEST_CASE("HIP: CTAs divide the pixels of a weight gradient as workspace allows, bitwise identical in every run") {
    using Layer = fk::Plan<fk::ConvWeightGradient<fk::filter(3, 3).pad(1)>>;
    fk::hip::Device device = gpu();
    oracle::Shape const in{2, 8, 40, 33}, out{2, 70, 40, 33};
    Filled<float, fk::hip::Device, 4> x(device, "nhwc", in, integers(in.size(), -2, 3, 1)),
        dy(device, "nhwc", out, integers(out.size(), -3, 2, 2));
    auto const layer = Layer::bind({.dy = dy.view()});
    auto const expected = oracle::weight_gradient({in, x.values}, {out, dy.values}, window_of(fk::filter(3, 3).pad(1)));
    std::size_t const states = fk::hip::GroupWorkspace::state_bytes, tile = 64 * 64 * sizeof(float);
    for (std::size_t const bytes : {std::size_t{0}, states + 4 * 2 * tile, states + 4 * 5 * tile}) {
        fk::Workspace<fk::hip::Memory> own(device, bytes ? bytes : 64);
        fk::hip::Stream const stream(device, nullptr, bytes ? own.view() : fk::WorkspaceView{});
        Placed<fk::hip::Device, 4> dw(device, fk::DataType::float32, layout_of("nhwc", expected.shape), 64);
        layer(stream, x.view(), dw.view<float>());
        CHECK(difference(expected, dw.fetch()) == "");
    }
    auto const a = fk::random<float>(device, fk::nhwc(1, 63, 65, 4), 1),
               b = fk::random<float>(device, fk::nchw(1, 3, 63, 65), 2);
    auto const random = Layer::bind({.dy = b});
    auto const bits = [&] { return numbers(random(device, a)); };
    auto const first = bits();
    for (int i = 0; i < 2; ++i) CHECK(std::memcmp(first.data(), bits().data(), first.size() * sizeof(float)) == 0);
}
