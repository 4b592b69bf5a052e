// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/planes.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <string>
#include <vector>

#include "backend/hip/planes_schedule.hpp"

using namespace test;
using fusekit::hip::Planes;
using fusekit::hip::Split;

namespace {

using Relu = fk::Activation<fk::Relu>;
using PerActivation = fk::BatchNormInference<fk::PerActivation>;

static_assert(
    fusekit::hip::PlanesEntry::has_kernel<fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias, Relu>, fk::half, fk::half>);
static_assert(
    !fusekit::hip::PlanesEntry::has_kernel<fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Residual>, fk::half, fk::half>);
static_assert(
    !fusekit::hip::PlanesEntry::has_kernel<fk::Plan<fk::Conv<fk::filter(1, 1)>, PerActivation>, fk::half, fk::half>);
static_assert(!fusekit::hip::PlanesEntry::has_kernel<fk::Plan<fk::Gemm, fk::Bias>, fk::half, fk::half>);

}  // namespace

TEMPLATE_TEST_CASE("HIP: Planes convolutions on sm_90a's tensor cores are exact", "", (Planes<240, 1>),
                   (Planes<64, 2>)) {
    check_planes<fk::half, TestType>("half");
}

TEMPLATE_TEST_CASE("HIP: Planes convolutions with split-K over a cluster are exact", "", (Split<Planes<240, 1>, 2>),
                   (Split<Planes<64, 2>, 4>)) {
    check_planes<fk::half, TestType>("half");
}

#ifndef FEWER_KERNELS  // half's kernels, with instructions that mma/ runs
TEST_CASE("HIP: Planes convolutions of bfloat16 are exact") { check_planes<fk::bfloat16, Planes<64, 2>>("bfloat16"); }
#endif

namespace {

std::vector<float> run_nchw(fk::hip::Device& device, auto& scheduled, auto const& layer,
                            fk::Tensor<fk::half, fk::hip::Device> const& x, fk::Layout<4> const& layout) {
    fk::Tensor<fk::half, fk::hip::Device> y(device, layout);
    std::vector<fk::half> got(static_cast<std::size_t>(layout.span()), fk::half(77));
    y.copy_from(got.data());
    layer(scheduled, x, y);
    device.synchronize();
    y.copy_to(got.data());
    return {got.begin(), got.end()};
}

}  // namespace

TEST_CASE("HIP: the default schedule for NCHW agrees with SIMT arithmetic") {
    fk::hip::Device device = sm90a_device();
    auto plain = device.with<fk::hip::Gemm<64, 64, 8>>();
    std::vector<float> few;
    for (int i = 0; i < 997; ++i) few.push_back(static_cast<float>(i * i % 7 % 3 - 1));
    auto const integers = [&](fk::Layout<4> const& layout) {
        fk::Tensor<fk::half, fk::hip::Device> tensor(device, layout);
        std::vector<fk::half> values;
        for (std::int64_t i = 0; i < layout.span(); ++i)
            values.push_back(fk::half(few[static_cast<std::size_t>(i) % few.size()]));
        tensor.copy_from(values.data());
        return tensor;
    };
    auto const x = integers(fk::nchw(3, 512, 7, 9)), w = integers(fk::kcrs(64, 512, 3, 3)),
               one = integers(fk::kcrs(64, 512, 1, 1));
    auto const y = fk::nchw(3, 64, 7, 9);
    auto const same = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>::bind({.weights = w});
    auto const single = fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = one});
    auto const expected = run_nchw(device, plain, same, x, y), of_single = run_nchw(device, plain, single, x, y);
    CHECK(run_nchw(device, device, same, x, y) == expected);
    CHECK(run_nchw(device, device, single, x, y) == of_single);
    // A filter in a plan's type leaves kernels one way to store results.
    auto long_parts = device.with<Planes<240, 1>>();
    auto short_parts = device.with<Planes<64, 2>>();
    CHECK(run_nchw(device, long_parts, same, x, y) == expected);
    CHECK(run_nchw(device, short_parts, same, x, y) == expected);
    CHECK(run_nchw(device, long_parts, single, x, y) == of_single);
    CHECK(run_nchw(device, short_parts, single, x, y) == of_single);
}

TEST_CASE("HIP: Planes tiles have whole images, as many rows as fit, or pixels from multiples of 8") {
    using Tiles = fusekit::hip::PlaneTiles<240, fk::half>;
    Tiles const whole(14, 14, 14, 14, fk::filter(3, 3).pad(1));
    CHECK(whole.pitch == 15);  // one column of padding is after a row and before the next
    CHECK(whole.rows == 14);  // 13 of 15 pixels with the gap, and 14
    CHECK(whole.whole());
    CHECK(whole.plane_pitch() == 196);
    CHECK(whole.pixels_of_x() == 2 * 15 + 2 + 240);
    CHECK(whole.pixels_read() == 15 * 15 + 16);
    Tiles const rows(55, 55, 55, 55, fk::filter(3, 3).pad(1));
    CHECK(rows.rows == 4);
    CHECK(rows.of_image == 14);
    CHECK(rows.first_row_of_x(0) == 0);
    CHECK(rows.end_row_of_x(0) == 5);
    CHECK(rows.first_row_of_x(52) == 51);
    CHECK(rows.end_row_of_x(52) == 55);
    CHECK(rows.plane_pitch() >= 6 * 55 + 14);
    CHECK(rows.plane_stages(1, Planes<240>::x_bytes(2), 4) == 1);
    Tiles const single(28, 28, 28, 28, fk::filter(1, 1));
    CHECK(single.pitch == 1);
    CHECK(single.rows == 200);
    CHECK(single.of_image == 4);
    CHECK(single.plane_stages(1, Planes<240>::x_bytes(2), 4) == 3);
    Tiles const framed(6, 8, 4, 6, fk::filter(1, 1).pad(1));
    CHECK(framed.pitch == 8);  // the pitch is at least the width of y
    Tiles const unequal(9, 8, 9, 8, fk::filter(3, 3).pad(1, 2, 1, 0));
    CHECK(unequal.pitch == 10);
    using Floats = fusekit::hip::PlaneTiles<240, float>;
    Floats const pixels(7, 7, 7, 7, fk::filter(1, 1), 64, true);
    CHECK(pixels.images == 1);
    CHECK(pixels.of_image == 14);  // 3136 pixels
    CHECK(pixels.rows == 224);
    CHECK(pixels.plane_bytes(1) == 224 * 128);
    Floats const images(7, 7, 7, 7, fk::filter(3, 3).pad(1), 64, true);
    CHECK(images.images == 64);
    CHECK(images.part_bytes() == 9 * 1024);  // 9 rows of 8 pixels
    CHECK(Floats(28, 28, 28, 28, fk::filter(3, 3).pad(1)).columns_of_half() == 104);  // 6 rows of 29, and 28
    CHECK(Floats(14, 14, 14, 14, fk::filter(3, 3).pad(1)).columns_of_half() == 112);  // 209
    CHECK(Floats(55, 56, 55, 56, fk::filter(3, 3).pad(1)).columns_of_half() == 120);  // 227
    CHECK(fusekit::hip::PlaneTiles<56, float>(7, 7, 7, 7, fk::filter(3, 3).pad(1)).whole());
}

TEST_CASE("HIP: Planes refuses unsupported x, which runs with other schedules") {
    fk::hip::Device device = sm90a_device();
    auto planes = device.with<Planes<>>();
    auto const layer_of = [&](auto const& w) { return fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = w}); };
    auto const x = fk::tensor<fk::half>(device, fk::nchw(1, 2, 1, 2), {1, 2, 5, 6}),
               w = fk::tensor<fk::half>(device, fk::kcrs(1, 2, 1, 1), {3, 4});
    auto y = fk::tensor<fk::half>(device, fk::nchw(1, 1, 1, 2), {-1, -1});
    CHECK(refusal([&] { layer_of(w)(planes, x, y); }).find("Planes: x's or y's planes are not contiguous") !=
          std::string::npos);
    fk::half got[2];
    device.synchronize();
    y.copy_to(got);
    CHECK(static_cast<float>(got[0]) == -1);
    layer_of(w)(device, x, y);
    device.synchronize();
    y.copy_to(got);
    CHECK(static_cast<float>(got[0]) == 23);
    CHECK(static_cast<float>(got[1]) == 30);
}
