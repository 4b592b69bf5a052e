// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/depthwise.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "backend/hip/gpu.hpp"
#include "support/check_case.hpp"
#include "support/half_types.hpp"
#include "support/run_case.hpp"
#include "support/static_geometries.hpp"
#include "support/stored_values.hpp"

using namespace test;
using fusekit::hip::Depthwise;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;
using Map = fk::BatchNormInference<fk::PerActivation>;
using Elements = HalvesAnd<float, fk::int8>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("HIP: depthwise convolutions of every window are exact in every layout", "", Elements) {
    fk::hip::Device device = gpu();
    auto depthwise = device.with<Depthwise<64>>();
    using Scheduled = decltype(depthwise);
    std::string const type = " " + std::string(fk::name(fk::data_type<TestType>));
    std::vector<std::string> const layouts{"nhwc krsc",   "nchw kcrs",      "nhwc+1 kcrs+1",  "nchw+1 krsc+2",
                                           "nhwc*2 kcrs", "nchw*2-hw kcrs", "nhwc>nchw kcrs", "nchw>nhwc krsc"};
    int number = 0;
    for (char const* sizes : {"n2c6h9w15k6r3s3pt1l1b1r1u1v1d1e1g6",     // vectors of channels
                              "n1c5h7w8k5r3s3pt0l1b2r1u1v1d1e1g5",      // an odd number of channels, a partial tail
                              "n2c4h10w16k4r3s3pt1l1b1r1u2v2d1e1g4",    // vectors of pixels
                              "n1c3h5w24k6r3s3pt1l1b1r1u1v1d1e1g3",     // two filters a channel
                              "n1c2h12w13k2r5s5pt2l2b2r2u1v1d1e1g2", "n2c3h11w12k9r5s5pt2l1b1r2u2v2d1e1g3",
                              "n1c4h8w8k4r7s7pt3l3b3r3u1v1d1e1g4",
                              "n1c3h9w14k3r3s3pt2l2b2r2u1v1d2e2g3",     // dilation: loops over taps
                              "n2c4h8w9k4r2s4pt1l0b0r3u3v1d1e2g4",      // an even filter, strides that differ
                              "n1c2h7w40k2r9s1pt4l0b4r0u1v1d1e1g2", "n2c70h3w3k70r3s3pt1l1b1r1u1v1d1e1g70"})
        for (std::size_t i = 0; i < layouts.size(); ++i) {
            std::string const seed = " CB #" + std::to_string(++number % 11 + 1);
            check_case(Case::parse(sizes + (" " + layouts[i]) + type + seed),
                       run_conv<Scheduled, TestType, fk::dynamic, fk::Bias>, depthwise);
        }
}

TEST_CASE("HIP: depthwise filters in the plan's type are unrolled, or loop over taps") {
    fk::hip::Device device = gpu();
    auto const depthwise = device.with<Depthwise<>>();
    auto const on = [on_device = &depthwise](std::uint64_t) -> auto& { return *on_device; };
    check_geometry<fk::half, fk::filter(3, 3).pad(1).groups(6)>({2, 6, 19, 17}, 6, on);
    check_geometry<float, fk::filter(3, 3).pad(1).stride(2).groups(4)>({1, 4, 16, 16}, 8, on);
    check_geometry<float, fk::filter(1, 1).stride(2).groups(6)>({1, 6, 7, 9}, 6, on);
    check_geometry<fk::half, fk::filter(1, 7).pad(0, 3).groups(4)>({2, 4, 3, 24}, 4, on);
    check_geometry<fk::half, fk::filter(5, 1).pad(3, 0, 0, 1).stride(3, 1).groups(3)>({1, 3, 20, 8}, 3, on);
    check_geometry<float, fk::filter(2, 3).pad(1).stride(1, 3).groups(2)>({1, 2, 5, 26}, 4, on);
    check_geometry<float, fk::filter(3, 3).pad(2).dilation(2).groups(4)>({1, 4, 9, 8}, 4, on);
    check_geometry<float, fk::filter(11, 11).pad(5).groups(2)>({1, 2, 12, 11}, 2, on);
    check_geometry<fk::half, fk::filter(5).pad(2).groups(4)>({2, 4, 1, 33}, 4, on);
}

/// False on AMD, where other schedules compute plans whose epilogue depends on the pixel.
constexpr bool stores_per_pixel = !fk::hip::arch::is_targeted<fk::hip::arch::Amd>;

TEMPLATE_TEST_CASE("HIP: depthwise plans apply operators before and after the filter", "", float, fk::half) {
    fk::hip::Device device = gpu();
    auto depthwise = device.with<Depthwise<64>>();
    using Scheduled = decltype(depthwise);
    constexpr auto filter = fk::filter(3, 3).pad(1).groups(6);
    std::string const type = " " + std::string(fk::name(fk::data_type<TestType>)),
                      size = "n2c6h9w16k6r3s3pt1l1b1r1u1v1d1e1g6";
    for (char const* layouts : {" nhwc krsc", " nchw kcrs", " nhwc+1 kcrs", " nchw+1>nhwc kcrs"}) {
        std::string const text = size + layouts + type;
        check_case(Case::parse(text + " NAC relu #1"), WithPrologue<Norm, Relu>::run<Scheduled, TestType, filter>,
                   depthwise);
        if constexpr (stores_per_pixel) {
            check_case(Case::parse(text + " CRA relu #3"), run_conv<Scheduled, TestType, filter, fk::Residual, Relu>,
                       depthwise);
            check_case(Case::parse(text + " CM #2"), run_conv<Scheduled, TestType, filter, Map>, depthwise);
        }
    }
    if constexpr (stores_per_pixel) {
        oracle::Window const window{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1, .groups = 6};
        check_stored_conv<TestType, fk::half>(depthwise, {"nhwc", "nhwc", "nhwc", "nchw"}, {2, 6, 9, 11}, 6, window);
        check_stored_conv<TestType, float>(depthwise, {"nchw", "nchw", "nchw", "nchw"}, {2, 6, 9, 11}, 12, window);
    }
}

TEMPLATE_TEST_CASE("HIP: an infinity in x reaches only the depthwise outputs whose windows have it", "", float,
                   fk::half) {
    fk::hip::Device device = gpu();
    auto depthwise = device.with<Depthwise<>>();
    constexpr int c = 8, h = 12, w = 16, at_c = 3, at_h = 5, at_w = 7;
    for (bool const last : {true, false})
        for (int const r : {3, 4, 5, 7}) {
            auto const layout = last ? fk::nhwc(1, h, w, c) : fk::nchw(1, c, h, w);
            fk::Tensor<TestType, fk::hip::Device> x(device, layout), weights(device, fk::kcrs(c, 1, r, r));
            std::vector<TestType> values(c * h * w, TestType(1.0f)),
                ones(static_cast<std::size_t>(c * r * r), TestType(1.0f));
            values[static_cast<std::size_t>(layout.offset({{0, at_c, at_h, at_w}}))] =
                TestType(std::numeric_limits<float>::infinity());
            x.copy_from(values.data()), weights.copy_from(ones.data());
            int const pad = r / 2;
            auto const y = fk::Plan<fk::Conv<fk::dynamic>>::bind(
                {.weights = weights, .filter = fk::filter(r, r).pad(pad).groups(c)})(depthwise, x);
            std::vector<TestType> got(static_cast<std::size_t>(y.size()));
            y.copy_to(got.data());
            int wrong = 0;
            for (int k = 0; k < c; ++k)
                for (std::int64_t p = 0; p < y.layout().shape[2]; ++p)
                    for (std::int64_t q = 0; q < y.layout().shape[3]; ++q) {
                        auto const down = at_h - (p - pad), across = at_w - (q - pad);
                        bool const has = k == at_c && down >= 0 && down < r && across >= 0 && across < r;
                        auto const value =
                            static_cast<float>(got[static_cast<std::size_t>(y.layout().offset({{0, k, p, q}}))]);
                        wrong += std::isfinite(value) == has || std::isnan(value);
                    }
            CHECK(wrong == 0);
        }
}

TEST_CASE("HIP: Depthwise refuses groups of several channels") {
    fk::hip::Device device = gpu();
    fk::Tensor<float, fk::hip::Device> x(device, fk::nhwc(1, 5, 5, 8)), w(device, fk::kcrs(8, 2, 3, 3));
    auto const layer =
        fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = fk::filter(3, 3).pad(1).groups(4)});
    CHECK(refusal([&] { static_cast<void>(layer(device.with<Depthwise<>>(), x)); }) ==
          "Plan<Conv<dynamic>>: Depthwise: C / groups = 2 is not 1: use Direct");
}
