// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/grouped.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "backend/hip/gpu.hpp"
#include "backend/hip/group_infinities.hpp"
#include "support/check_case.hpp"
#include "support/half_types.hpp"
#include "support/run_case.hpp"
#include "support/static_geometries.hpp"
#include "support/stored_values.hpp"

using namespace test;
using fusekit::hip::Grouped;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;
using Map = fk::BatchNormInference<fk::PerActivation>;

/// Returns the device; skips the test case if it has no mma.sync.
fk::hip::Device device_with_mma() {
    fk::hip::Device device = gpu();
    if (!fk::hip::GroupedEntry::runs_on(device.architecture())) SKIP("no GPU of compute capability 8.0 or later");
    return device;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("HIP: Grouped is exact for groups of even numbers of channels", "", HalfTypes) {
    fk::hip::Device device = device_with_mma();
    auto grouped = device.with<Grouped<>>();
    using Scheduled = decltype(grouped);
    std::string const type = " " + std::string(fk::name(fk::data_type<TestType>));
    char const* const layouts[] = {" nhwc krsc", " nhwc kcrs", " nhwc+8 krsc+1", " nchw kcrs*2", " nchw krsc"};
    int number = 0;
    for (char const* channels :
         {"c16k16g4",   "c24k24g6", "c16k16g2", "c64k64g8", "c48k48g3",   "c72k72g3", "c64k64g2", "c80k80g2",
          "c128k128g2",  // groups of as many channels of x as of y
          "c16k64g2",   "c64k16g2", "c24k56g4", "c40k24g4", "c120k120g4", "c16k32g4", "c32k16g4", "c24k48g2",
          "c24k24g2",   "c56k40g2", "c8k200g2"})
        for (char const* window : {"r3s3pt1l1b1r1u1v1d1e1", "r3s3pt1l0b2r1u2v2d1e1"}) {
            std::string const word = channels, c = word.substr(0, word.find('k')),
                              k = word.substr(word.find('k'), word.find('g') - word.find('k')),
                              g = word.substr(word.find('g')), size = number % 2 == 0 ? "h7w9" : "h5w19";
            std::string const text = "n1" + c + size + k + window + g + layouts[number % 5] + type + " CB #" +
                                     std::to_string(number % 3 + 1);
            ++number;
            check_case(Case::parse(text), run_conv<Scheduled, TestType, fk::dynamic, fk::Bias>, grouped);
        }
}

TEST_CASE("HIP: Grouped is exact for windows of every size, stride and dilation") {
    fk::hip::Device device = device_with_mma();
    auto grouped = device.with<Grouped<256>>();
    using Scheduled = decltype(grouped);
    int number = 0;
    for (char const* window :
         {"r1s1pt0l0b0r0u1v1d1e1", "r1s1pt0l0b0r0u2v3d1e1", "r3s3pt1l1b1r1u3v3d1e1", "r3s3pt2l2b2r2u1v1d2e2",
          "r3s3pt1l2b1r2u1v2d1e2", "r5s5pt2l2b2r2u1v1d1e1", "r5s5pt2l1b1r2u2v2d1e1", "r7s7pt3l3b3r3u1v1d1e1",
          "r2s4pt1l0b0r3u1v2d2e1", "r1s7pt0l3b0r3u1v1d1e1", "r9s1pt4l0b4r0u2v1d1e1"})
        for (char const* text : {"n5c8h11w13k8%g2", "n1c16h14w17k16%g2", "n1c64h10w70k64%g4", "n2c24h13w12k40%g2"}) {
            std::string sizes = text;
            sizes.replace(sizes.find('%'), 1, window);
            ++number;
            check_case(Case::parse(sizes + " nhwc " + (number % 2 ? "krsc" : "kcrs") + " half CBA relu #" +
                                   std::to_string(number % 3 + 1)),
                       run_conv<Scheduled, fk::half, fk::dynamic, fk::Bias, Relu>, grouped);
        }
}

TEST_CASE("HIP: Grouped computes filters in the plan's type, and signals") {
    fk::hip::Device device = device_with_mma();
    auto grouped = device.with<Grouped<>>();
    using Scheduled = decltype(grouped);
    auto const check = [&]<auto filter>(char const* sizes) {
        check_case(Case::parse(std::string(sizes) + " half CBA relu #3"),
                   run_conv<Scheduled, fk::half, filter, fk::Bias, Relu>, grouped);
    };
    check.operator()<fk::filter(3, 3).pad(1).groups(4)>("n2c32h13w9k32r3s3pt1l1b1r1u1v1d1e1g4 nhwc krsc");
    check.operator()<fk::filter(3, 3).pad(1).stride(2).groups(2)>("n1c32h12w9k64r3s3pt1l1b1r1u2v2d1e1g2 nhwc krsc");
    check.operator()<fk::filter(1, 1).groups(8)>("n1c64h5w6k32r1s1pt0l0b0r0u1v1d1e1g8 nhwc kcrs");
    check.operator()<fk::filter(5).pad(2).groups(4)>("n2c32h1w33k32r1s5pt0l2b0r2u1v1d1e1g4 nwc ksc");
}

TEMPLATE_LIST_TEST_CASE("HIP: Grouped applies operators and stores their tensors", "", HalfTypes) {
    fk::hip::Device device = device_with_mma();
    auto grouped = device.with<Grouped<>>();
    using Scheduled = decltype(grouped);
    constexpr auto filter = fk::filter(3, 3).pad(1).groups(5);
    std::string const type = " " + std::string(fk::name(fk::data_type<TestType>)),
                      text = "n2c40h6w11k40r3s3pt1l1b1r1u1v1d1e1g5 nhwc krsc" + type;
    check_case(Case::parse(text + " CNA relu #1"), run_conv<Scheduled, TestType, filter, Norm, Relu>, grouped);
    check_case(Case::parse(text + " CBRA relu #3"), run_conv<Scheduled, TestType, filter, fk::Bias, fk::Residual, Relu>,
               grouped);
    check_case(Case::parse(text + " CM #2"), run_conv<Scheduled, TestType, filter, Map>, grouped);
    oracle::Window const window{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1, .groups = 2};
    check_stored_conv<TestType, TestType>(grouped, {"nhwc", "nhwc", "nhwc", "nchw"}, {2, 16, 9, 11}, 16, window);
    check_stored_conv<TestType, float>(grouped, {"nhwc", "nhwc", "nhwc", "nhwc"}, {2, 8, 9, 11}, 24, window);
}

TEST_CASE("HIP: a Grouped tile of several small images is exact") {
    fk::hip::Device device = device_with_mma();
    auto grouped = device.with<Grouped<>>();
    using Scheduled = decltype(grouped);
    for (char const* sizes : {"n301c16h3w4k16r3s3pt1l1b1r1u1v1d1e1g4", "n301c32h3w4k16r3s3pt1l1b1r1u1v2d1e1g2"}) {
        Case const about = Case::parse(std::string(sizes) + " nhwc krsc half CBA relu #2");
        fk::hip::GroupedProblem const problem{about.x.n,   about.x.c,   about.k,       about.window.groups,
                                              about.y().h, about.y().w, about.filter()};
        CHECK(fk::hip::choose_grouped_tile(problem, device.processors()).tile.images > 1);
        check_case(about, run_conv<Scheduled, fk::half, fk::dynamic, fk::Bias, Relu>, grouped);
    }
}

TEST_CASE("HIP: an Amax after Grouped sees the values of y only") {
    fk::hip::Device device = device_with_mma();
    auto grouped = device.with<Grouped<>>();
    using Tensor = fk::Tensor<fk::half, fk::hip::Device>;
    int const c = 48, k = 40;
    Tensor x(device, fk::nhwc(2, 5, 11, c)), w(device, fk::krsc(k, 3, 3, c / 2));
    fk::Tensor<float, fk::hip::Device, 1> bias(device, fk::channels(k)), amax(device, fk::channels(1));
    std::vector<fk::half> ones(static_cast<std::size_t>(x.size()), fk::half(1.0f)),
        weights(static_cast<std::size_t>(w.size()), fk::half(1.0f));
    x.copy_from(ones.data()), w.copy_from(weights.data());
    // every value is between -204 and -84; without a window, outside y, it would be -300
    std::vector<float> const biases(k, -300.0f), zero{0.0f};
    bias.copy_from(biases.data()), amax.copy_from(zero.data());
    auto const y = fk::Plan<fk::Conv<fk::dynamic>, fk::Bias, fk::Amax>::bind(
        {.weights = w, .filter = fk::filter(3, 3).pad(1).groups(2)}, {.bias = bias}, {.amax = amax})(grouped, x);
    std::vector<fk::half> got(static_cast<std::size_t>(y.size()));
    y.copy_to(got.data());
    float largest = 0;
    for (fk::half const value : got) largest = std::fmax(largest, std::fabs(static_cast<float>(value)));
    CHECK(largest == 300 - 4 * c / 2);  // a corner has four taps
    std::vector<float> found(1);
    amax.copy_to(found.data());
    CHECK(found[0] == largest);
}

TEMPLATE_LIST_TEST_CASE("HIP: an infinity or NaN reaches only outputs whose window and group have it", "", HalfTypes) {
    fk::hip::Device device = device_with_mma();
    auto grouped = device.with<Grouped<>>();
    for (GroupExtents const& extents :
         {GroupExtents{16, 16, 4}, {16, 32, 4}, {32, 16, 4}, {24, 24, 2}, {32, 32, 4}, {32, 64, 2}})
        for (int const stride : {1, 2}) check_infinities<TestType>(device, grouped, extents, stride);
}

TEST_CASE("HIP: Grouped refuses what it cannot compute, with the condition and its value") {
    fk::hip::Device device = device_with_mma();
    auto const message = [&](std::int64_t c, std::int64_t k, int groups, bool last, int offset = 0) {
        fk::Tensor<fk::half, fk::hip::Device> x(device, last ? fk::nhwc(1, 5, 5, c + offset) : fk::nchw(1, c, 5, 5)),
            w(device, fk::krsc(k, 3, 3, c / groups));
        auto const layer =
            fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = fk::filter(3, 3).pad(1).groups(groups)});
        auto view = x.view();
        view.layout.shape[1] = c;
        fk::Tensor<fk::half, fk::hip::Device> y(device, fk::nhwc(1, 5, 5, k));
        return refusal([&] { layer(device.with<Grouped<>>(), view, y); });
    };
    std::string const start = "Plan<Conv<dynamic>>: Grouped: ";
    CHECK(message(16, 16, 1, true) == start + "groups = 1 is below 2: use MatrixGemm or NativeGemm");
    CHECK(message(16, 16, 8, true) == start + "C / groups = 2 is below 4: use Depthwise or Direct");
    CHECK(message(40, 64, 8, true) == start + "C / groups = 5 is not a multiple of 2: use NativeGemm");
    CHECK(message(64, 16, 8, true) == start + "K / groups = 2 is below 4: use Direct");
    CHECK(message(64, 72, 8, true) == start + "K / groups = 9 is not a multiple of 2: use NativeGemm");
    CHECK(message(12, 24, 3, true) == start + "C = 12 is not a multiple of 8: use NativeGemm");
    CHECK(message(24, 12, 3, true) == start + "K = 12 is not a multiple of 8: use NativeGemm");
    CHECK(message(16, 16, 2, false) == "accepted");
    CHECK(message(16, 16, 2, true, 4) == start + "pixels of x are not at multiples of 16 bytes: use NativeGemm");
    CHECK(message(1024, 1024, 2, true) ==
          start + "no tile of x and its filters fits 96 KB of shared memory: use NativeGemm");
    CHECK(message(16, 16, 2, true) == "accepted");
}
