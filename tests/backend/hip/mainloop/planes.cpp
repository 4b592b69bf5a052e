// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/planes.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <string>
#include <vector>

#include "backend/hip/sm90a_device.hpp"
#include "support/check_case.hpp"
#include "support/run_case.hpp"

using namespace test;
using fusekit::hip::Planes;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;
using PerActivation = fk::BatchNormInference<fk::PerActivation>;

static_assert(fusekit::hip::has_planes<fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias, Relu>, fk::half, fk::half>);
static_assert(!fusekit::hip::has_planes<fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Residual>, fk::half, fk::half>);
static_assert(!fusekit::hip::has_planes<fk::Plan<fk::Conv<fk::filter(1, 1)>, PerActivation>, fk::half, fk::half>);
static_assert(!fusekit::hip::has_planes<fk::Plan<fk::Gemm, fk::Bias>, fk::half, fk::half>);

/// Whole images and parts of them, of even and odd extents; channels and filters that end within a tile; windows that
/// reach over all edges; filters whose channels, or whose taps, are neighbours; more tiles than the emulated GPU has
/// processors.
template <class T, class Schedule>
void check_schedule(std::string const& type) {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<Schedule>();
    using Scheduled = decltype(scheduled);
    for (char const* sizes :
         {"n1c8h1w2k8r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs", "n2c72h14w14k136r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs",
          "n3c136h7w7k72r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs",
          "n2c16h31w33k24r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs",  // parts begin anywhere
          "n1c8h2w300k16r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs",  // rows longer than a part
          "n19c8h5w4k192r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs",  // a warpgroup without channels in every other tile
          "n19c72h5w4k192r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs",
          "n19c8h4w6k8r1s1pt2l1b0r1u1v1d1e1g1 nchw kcrs",  // a frame of zeros
          "n3c72h7w7k136r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs", "n2c24h14w14k40r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs",
          "n1c64h11w55k64r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs", "n19c8h9w8k8r3s3pt0l2b1r0u1v1d1e1g1 nchw kcrs",
          "n2c40h9w10k72r3s3pt1l1b1r1u1v1d1e1g1 nchw krsc",
          "n2c24h9w12k136r2s4pt1l2b0r1u1v1d1e1g1 nchw krsc",  // an even filter
          "n9c120h20w14k8r4s1pt0l0b2r0u1v1d1e1g1 nchw krsc",  // as many taps as stages of filters
          "n5c72h9w14k8r1s3pt0l1b0r1u1v1d1e1g1 nchw krsc", "n1c16h40w2k8r7s1pt3l0b3r0u1v1d1e1g1 nchw krsc"}) {
        std::string const text = sizes + (" " + type);
        INFO(text);
        check_case(Case::parse(text + " CBA relu #3"), run_conv<Scheduled, T, fk::dynamic, fk::Bias, Relu>, scheduled);
    }
    for (char const* sizes :
         {"n3c16h9w9k24r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs", "n3c24h5w6k16r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs"}) {
        std::string const text = sizes + (" " + type);
        INFO(text);
        check_case(Case::parse(text + " CN #1"), run_conv<Scheduled, T, fk::dynamic, Norm>, scheduled);
    }
}

}  // namespace

TEMPLATE_TEST_CASE("HIP: convolutions of planes on sm_90a's matrix units are exact", "", (Planes<240, 1>),
                   (Planes<64, 2>)) {
    check_schedule<fk::half, TestType>("half");
}

TEST_CASE("HIP: so are those of bfloat16 planes") { check_schedule<fk::bfloat16, Planes<64, 2>>("bfloat16"); }

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

TEST_CASE("HIP: the library's choice for planes gives what plain arithmetic does") {
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
    CHECK(run_nchw(device, device, same, x, y) == run_nchw(device, plain, same, x, y));
    CHECK(run_nchw(device, device, single, x, y) == run_nchw(device, plain, single, x, y));
}

TEST_CASE("HIP: parts of planes are whole images, or as many rows as fit, or pixels that begin at multiples of 8") {
    using Tiles = fusekit::hip::PlaneTiles<240>;
    Tiles const whole(14, 14, 14, 14, fk::filter(3, 3).pad(1));
    CHECK(whole.pitch == 16);
    CHECK(whole.rows == 14);  // 13 of 16 places, and 14
    CHECK(whole.whole());
    CHECK(whole.plane_pitch() == 196);
    CHECK(whole.places() == 2 * 16 + 2 + 240);
    Tiles const rows(55, 55, 55, 55, fk::filter(3, 3).pad(1));
    CHECK(rows.rows == 4);
    CHECK(rows.of_image == 14);
    CHECK(rows.first_row_of_x(0) == 0);
    CHECK(rows.end_row_of_x(0) == 5);
    CHECK(rows.first_row_of_x(52) == 51);
    CHECK(rows.end_row_of_x(52) == 55);
    CHECK(rows.plane_pitch() >= 6 * 55 + 14);
    CHECK(rows.plane_stages(1, Planes<240>::x_bytes, 4) == 1);
    Tiles const single(28, 28, 28, 28, fk::filter(1, 1));
    CHECK(single.pitch == 1);
    CHECK(single.rows == 200);
    CHECK(single.of_image == 4);
    CHECK(single.plane_stages(1, Planes<240>::x_bytes, 4) == 3);
    CHECK(fusekit::hip::PlaneTiles<64>(7, 7, 7, 7, fk::filter(3, 3).pad(1)).whole());
}

TEST_CASE("HIP: planes that the schedule does not read are refused, and run without") {
    fk::hip::Device device = sm90a_device();
    auto planes = device.with<Planes<>>();
    auto const layer_of = [&](auto const& w) { return fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = w}); };
    auto const x = fk::tensor<fk::half>(device, fk::nchw(1, 2, 1, 2), {1, 2, 5, 6}),
               w = fk::tensor<fk::half>(device, fk::kcrs(1, 2, 1, 1), {3, 4});
    auto y = fk::tensor<fk::half>(device, fk::nchw(1, 1, 1, 2), {-1, -1});
    CHECK(refusal([&] { layer_of(w)(planes, x, y); }).find("a multiple of 8 channels of x") != std::string::npos);
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
