// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/gathered_planes.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "backend/hip/sm90a_device.hpp"
#include "support/check_case.hpp"
#include "support/run_case.hpp"

using namespace test;
using fusekit::hip::GatheredPlanes;
using fusekit::hip::Split;

namespace {

using Relu = fk::Activation<fk::Relu>;

/// Strides of 1 to 4, dilations, filters of 1 to 32 taps, rows longer than a tile, images smaller than a tile, partial
/// tiles of channels and filters, tiles of 64 and of 128 channels, taps that are out of bounds for all pixels. Planes
/// of x with odd and even numbers of pixels.
constexpr char const* problems[] = {
    "n1c8h1w2k8r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs",         "n2c16h9w11k24r3s3pt1l1b1r1u2v2d1e1g1 nchw kcrs",
    "n2c24h15w14k72r3s3pt1l1b1r1u2v2d1e1g1 nchw kcrs",     "n3c40h9w7k136r1s1pt0l0b0r0u2v2d1e1g1 nchw kcrs",
    "n2c16h17w16k16r2s2pt0l0b0r0u2v2d1e1g1 nchw kcrs",     "n1c24h22w25k40r3s3pt0l1b2r0u3v2d1e1g1 nchw kcrs",
    "n2c16h17w17k24r1s7pt0l3b0r3u1v1d1e1g1 nchw kcrs",     "n2c48h17w17k72r7s1pt3l0b3r0u1v1d1e1g1 nchw kcrs",
    "n1c8h11w13k16r5s5pt2l2b2r2u1v1d1e1g1 nchw kcrs",      "n1c32h14w14k24r3s3pt2l2b2r2u1v1d2e2g1 nchw kcrs",
    "n2c16h8w8k16r3s3pt12l12b12r12u1v1d12e12g1 nchw kcrs",  // only the middle tap is in bounds
    "n1c16h13w9k16r3s3pt4l6b4r6u1v1d4e6g1 nchw kcrs",  // some taps have no column in bounds
    "n1c8h2w300k16r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs",  // rows longer than a tile
    "n1c8h9w113k136r3s3pt1l0b1r0u1v1d1e1g1 nchw kcrs",     "n1c16h6w112k16r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs",
    "n19c8h9w8k8r3s3pt0l2b1r0u2v1d1e1g1 nchw kcrs",        "n1c8h20w21k16r3s3pt1l1b1r1u2v3d3e2g1 nchw kcrs",
    "n1c8h9w9k16r4s8pt1l3b2r4u1v1d1e1g1 nchw kcrs",        "n2c16h16w16k21r4s4pt0l0b0r0u4v4d1e1g1 nchw kcrs",
    "n2c16h12w10k16r3s2pt5l0b1r4u2v2d2e4g1 nchw kcrs",     "n4c16h7w7k200r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs",
    "n2c24h30w26k16r3s3pt9l9b9r9u1v1d9e9g1 nchw kcrs",  // tiles omit rows of taps
    "n7c40h14w14k24r1s1pt0l0b0r0u2v2d1e1g1 nchw kcrs"};

template <class T, class Schedule>
void check_problems(std::string const& type, std::size_t first, std::size_t step) {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<Schedule>();
    for (std::size_t i = first; i < std::size(problems); i += step) {
        std::string const text = std::string(problems[i]) + " " + type;
        INFO(text);
        check_case(Case::parse(text + " CBA relu #3"), run_conv<decltype(scheduled), T, fk::dynamic, fk::Bias, Relu>,
                   scheduled);
    }
    using Norm = fk::BatchNormInference<fk::Spatial>;
    std::string const text = "n3c16h9w9k24r3s3pt1l1b1r1u2v2d1e1g1 nchw kcrs " + type + " CN #1";
    check_case(Case::parse(text), run_conv<decltype(scheduled), T, fk::dynamic, Norm>, scheduled);
}

}  // namespace

TEST_CASE("HIP: GatheredPlanes convolutions on sm_90a's tensor cores are exact") {
    check_problems<fk::half, GatheredPlanes<>>("half", 0, 1);
}
#ifndef FEWER_KERNELS  // half's kernels, with instructions that mma/ runs
TEST_CASE("HIP: GatheredPlanes convolutions of bfloat16 are exact") {
    check_problems<fk::bfloat16, GatheredPlanes<>>("bfloat16", 1, 5);
}
#endif
TEMPLATE_TEST_CASE("HIP: GatheredPlanes convolutions with split-K over a cluster are exact", "",
                   (Split<GatheredPlanes<>, 2>), (Split<GatheredPlanes<>, 4>)) {
    check_problems<fk::half, TestType>("half", 0, 1);
}

TEST_CASE("HIP: GatheredPlanes reads and writes only the channels of a slice") {
    fk::hip::Device device = sm90a_device();
    auto plain = device.with<fk::hip::Gemm<64, 64, 8>>();
    auto gathered = device.with<GatheredPlanes<>>();
    auto shared = device.with<Split<GatheredPlanes<>, 2>>();
    // x is channels 8 to 31 of 40, NaN elsewhere; y is channels 8 to 47 of 56
    fk::Layout<4> const all_of_x = fk::nchw(2, 40, 9, 11), all_of_y = fk::nchw(2, 56, 5, 6);
    fk::Tensor<fk::half, fk::hip::Device> x(device, all_of_x), y(device, all_of_y), w(device, fk::kcrs(40, 24, 3, 3));
    auto const sample = [](std::int64_t i) { return fk::half(static_cast<float>(i * i % 7 % 3 - 1)); };
    std::vector<fk::half> values;
    for (std::int64_t i = 0; i < all_of_x.span(); ++i) {
        bool const inside = i / 99 % 40 >= 8 && i / 99 % 40 < 32;
        values.push_back(inside ? sample(i) : fk::half(std::numeric_limits<float>::quiet_NaN()));
    }
    x.copy_from(values.data());
    values.clear();
    for (std::int64_t i = 0; i < w.layout().span(); ++i) values.push_back(sample(i + 5));
    w.copy_from(values.data());
    auto const slice = [](auto view, std::int64_t channels) {
        view.data += 8 * view.layout.stride[1];
        view.layout.shape[1] = channels;
        return view;
    };
    auto const layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1).stride(2)>>::bind({.weights = w});
    auto const run = [&](auto& scheduled) {
        std::vector<fk::half> results(static_cast<std::size_t>(all_of_y.span()), fk::half(77));
        y.copy_from(results.data());
        layer(scheduled, slice(x.const_view(), 24), slice(y.view(), 40));
        device.synchronize();
        y.copy_to(results.data());
        return std::vector<float>(results.begin(), results.end());
    };
    auto const expected = run(plain);
    CHECK(expected.front() == 77);
    CHECK(run(gathered) == expected);
    CHECK(run(shared) == expected);
}

TEST_CASE("HIP: GatheredPlanes refuses filters that are not in KCRS order, which run with other schedules") {
    fk::hip::Device device = sm90a_device();
    auto gathered = device.with<GatheredPlanes<>>();
    fk::Tensor<fk::half, fk::hip::Device> x(device, fk::nchw(1, 8, 5, 5)), y(device, fk::nchw(1, 16, 3, 3)),
        w(device, fk::krsc(16, 3, 3, 8));
    std::vector<fk::half> const ones(16 * 8 * 9, fk::half(1));
    x.copy_from(ones.data()), w.copy_from(ones.data());
    auto const layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1).stride(2)>>::bind({.weights = w});
    CHECK(refusal([&] { layer(gathered, x, y); }).find("weights are not dense, in KCRS order") != std::string::npos);
    layer(device.with<fk::hip::MatrixGemm<128, 64, 2>>(), x, y);
    device.synchronize();
    std::vector<fk::half> results(16 * 9);
    y.copy_to(results.data());
    CHECK(static_cast<float>(results[4]) == 72);
}

TEST_CASE("HIP: the library selects GatheredPlanes for strided, dilated and wide NCHW convolutions") {
    auto const kind = [](fk::Filter<2> const& filter, std::int64_t c, std::int64_t hw, std::int64_t k) {
        fk::TensorView<fk::half const> const w(nullptr, fk::kcrs(k, c, filter.size[0], filter.size[1]));
        auto const layer = fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = filter});
        fk::Layout<4> const x = fk::nchw(32, c, hw, hw);
        fk::Index<4> const y = layer.output_shape(x.shape);
        auto const best = layer.predict<fk::half>(fk::hip::Architecture::sm(90), x, fk::nchw(y[0], y[1], y[2], y[3]));
        return best.schedule.kind;
    };
    using Kind = fk::hip::ScheduleKind;
    CHECK(kind(fk::filter(3, 3).pad(1), 128, 112, 128) == Kind::gathered_planes);
    CHECK(kind(fk::filter(3, 3).pad(1).stride(2), 256, 28, 256) == Kind::gathered_planes);
    CHECK(kind(fk::filter(3, 3).pad(4).dilation(4), 512, 28, 512) == Kind::gathered_planes);
    CHECK(kind(fk::filter(1, 7).pad(0, 3, 0, 3), 192, 17, 192) == Kind::gathered_planes);
    CHECK(kind(fk::filter(3, 3).pad(1), 128, 28, 128) == Kind::planes);
    CHECK(kind(fk::filter(1, 1), 256, 56, 64) != Kind::gathered_planes);
}
