// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/stem.hpp"

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "backend/hip/sm90a_device.hpp"
#include "support/check_case.hpp"
#include "support/half_types.hpp"
#include "support/run_case.hpp"
#include "support/stored_values.hpp"

using namespace test;
using fusekit::hip::Stem, fusekit::hip::StemShape;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;

static_assert(!fusekit::hip::StemEntry::has_kernel<fk::Plan<fk::Conv<fk::filter(1, 1)>>, fk::half, fk::half>);
static_assert(!fusekit::hip::StemEntry::has_kernel<
              fk::Plan<fk::Conv<fk::filter(3, 3)>, fk::BatchNormInference<fk::PerActivation>>, fk::half, fk::half>);

}  // namespace

TEMPLATE_LIST_TEST_CASE("HIP: convolutions of few channels on sm_90a's tensor cores are exact", "", HalfTypes) {
    fk::hip::Device device = sm90a_device();
    auto stem = device.with<Stem<>>();
    using Scheduled = decltype(stem);
    std::string const type = std::is_same_v<TestType, fk::half> ? " half" : " bfloat16";
    for (char const* sizes : {"n1c1h3w8k8r3s3pt0l0b0r0u1v1d1e1g1",     // one channel, windows at odd elements
                              "n2c3h19w24k64r7s7pt3l3b3r3u2v2d1e1g1",  // a zero before each row of a window
                              "n3c3h7w32k72r3s3pt1l1b1r1u1v1d1e1g1",  // windows at odd elements, two tiles of channels
                              "n19c4h33w10k16r3s3pt1l0b0r2u2v2d1e1g1",  // more tiles than two stages of all warpgroups
                              "n2c2h9w20k40r2s5pt0l4b1r1u3v1d2e1g1",  // an even filter, dilated rows of x
                              "n1c3h17w40k24r4s4pt0l1b3r0u4v4d1e1g1",  // windows that do not overlap
                              "n1c8h21w5k24r9s4pt4l1b4r2u1v1d1e1g1",  // long windows in rows of 32 elements
                              "n2c5h1w48k16r1s6pt0l4b0r4u1v3d1e1g1",  // one row, windows at odd elements
                              // rows of x at odd elements, and at odd multiples of 4 and 8 bytes
                              "n7c3h33w29k24r3s3pt0l0b0r0u2v2d1e1g1", "n2c3h9w15k40r5s3pt3l2b1r4u1v1d2e1g1",
                              "n2c1h70w86k16r3s3pt1l1b1r1u1v1d1e1g1", "n2c4h9w13k16r7s7pt3l3b3r3u2v2d1e1g1",
                              // two sets of filters, for windows at even and at odd elements
                              "n3c3h13w27k24r3s3pt1l1b1r1u2v2d1e1g1", "n2c3h23w23k72r7s7pt3l3b3r3u2v2d1e1g1",
                              "n2c3h15w17k24r3s3pt1l1b1r1u2v2d2e1g1", "n9c1h33w21k16r3s3pt0l0b0r0u2v2d1e1g1",
                              // misaligned rows; filters for which SMEM has one set, and rows of windows of 32 elements
                              "n2c3h21w21k16r9s3pt0l0b0r0u2v2d1e1g1", "n2c4h9w13k16r3s8pt1l3b1r4u1v2d1e1g1"}) {
        std::string const text = sizes + std::string(" nhwc krsc") + type;
        check_case(Case::parse(text + " CBA relu #3"), run_conv<Scheduled, TestType, fk::dynamic, fk::Bias, Relu>,
                   stem);
    }
    std::string const size = "n3c3h9w16k24r3s3pt1l1b1r1u2v2d1e1g1 ";
    check_case(Case::parse(size + "nhwc krsc" + type + " CN #1"), run_conv<Scheduled, TestType, fk::dynamic, Norm>,
               stem);
    check_case(Case::parse(size + "nhwc krsc" + type + " CRA relu #1"),
               run_conv<Scheduled, TestType, fk::dynamic, fk::Residual, Relu>, stem);
    check_case(Case::parse(size + "nhwc krsc" + type + " CRR #2"),
               run_conv<Scheduled, TestType, fk::dynamic, fk::Residual, fk::Residual>, stem);
}

TEST_CASE("HIP: Stem reads x at any address, also one that is aligned otherwise than the prepared one") {
    fk::hip::Device device = sm90a_device();
    auto stem = device.with<Stem<>>();
    auto const w = fk::random<fk::half>(device, fk::krsc(16, 3, 3, 3), 1);
    for (auto const& filter : {fk::filter(3, 3).pad(1).stride(2), fk::filter(3, 3)})
        for (int const width : {16, 19, 22}) {  // rows at multiples of 16, 2 and 4 bytes
            auto const layer = fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = filter});
            auto const shape = fk::nhwc(3, 9, width, 3);
            auto const x = fk::random<fk::half>(device, shape, 2);
            auto const y = layer(stem, x);
            std::vector<fk::half> values(static_cast<std::size_t>(x.size())),
                expected(static_cast<std::size_t>(y.size()));
            x.copy_to(values.data()), y.copy_to(expected.data());
            fk::Tensor<fk::half, fk::hip::Device, 1> memory(device, fk::channels(static_cast<int>(x.size()) + 16));
            fk::Tensor<fk::half, fk::hip::Device> own(device, y.layout()), others(device, y.layout());
            auto const at_offset = [&](int offset) {
                return fk::TensorView<fk::half const>(memory.const_view().data + offset, shape);
            };
            auto const prepared = layer.prepare(stem, at_offset(1), others);
            for (int const offset : {0, 1, 2, 5, 7, 8}) {
                CAPTURE(width, offset);
                std::vector<fk::half> shifted(values.size() + 16, fk::half(INFINITY));
                std::copy(values.begin(), values.end(), shifted.begin() + offset);
                memory.copy_from(shifted.data());
                auto const at = at_offset(offset);
                layer(stem, at, own);
                prepared(device, at, others);
                std::vector<fk::half> got(expected.size());
                for (auto const* each : {&own, &others}) {
                    each->copy_to(got.data());
                    CHECK(std::equal(got.begin(), got.end(), expected.begin(), [](fk::half a, fk::half b) {
                        return static_cast<float>(a) == static_cast<float>(b);
                    }));
                }
            }
        }
}

TEST_CASE("HIP: Stem's epilogue stores only in-bounds elements of y") {
    fk::hip::Device device = sm90a_device();
    auto stem = device.with<Stem<>>();
    check_stored_conv<fk::half, fk::half>(
        stem, {"nhwc", "nhwc", "nhwc", "nhwc"}, {2, 3, 9, 16}, 24,
        {.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1, .u = 2, .v = 2});
}

TEST_CASE("HIP: Stem does not multiply elements of x outside all windows, not even by zero") {
    fk::hip::Device device = sm90a_device();
    auto stem = device.with<Stem<>>();
    fk::Tensor<fk::half, fk::hip::Device> w(device, fk::krsc(8, 3, 3, 1)), x(device, fk::nhwc(1, 3, 16, 1));
    w.copy_from(std::vector<fk::half>(72, fk::half(1.0f)).data());
    for (int const stride : {4, 5}) {  // windows at odd elements alone, and at even ones too
        std::vector<fk::half> values(48, fk::half(1.0f));
        for (std::size_t i = 0; i < values.size(); ++i)
            if ((static_cast<int>(i) % 16 + 1) % stride >= 3) values[i] = fk::half(INFINITY);
        values[2 * 16 + 4] = fk::half(INFINITY);  // in the last row of the second window
        x.copy_from(values.data());
        auto const filter = fk::filter(3, 3).pad(0, 1, 0, 0).stride(1, stride);
        auto const y = fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = filter})(stem, x);
        std::vector<fk::half> got(static_cast<std::size_t>(y.size()));
        y.copy_to(got.data());
        for (std::size_t i = 0; i < got.size(); ++i)
            CHECK(static_cast<float>(got[i]) == (i < 8 ? 6 : i < 16 ? INFINITY : 9));
    }
}

TEST_CASE("HIP: Stem is chosen for any layout of weights and gaps in y") {
    fk::hip::Device device = sm90a_device();
    auto on = device.channels_last();
    using Plan = fk::Plan<fk::Conv<fk::filter(7, 7).stride(2).pad(3)>>;
    auto const x = fk::random<fk::half>(device, fk::nhwc(2, 14, 16, 3), 2);
    auto const is_stem = [&](int channels, char const* layout) {
        auto const w = fk::random<fk::half>(device, fk::kcrs(channels, 3, 7, 7), 1);
        fk::Tensor<fk::half, fk::hip::Device> y(device, layout_of(layout, {2, channels, 7, 8})),
            other(device, fk::nhwc(2, 7, 8, 24));
        auto const other_w = fk::random<fk::half>(device, fk::kcrs(24, 3, 7, 7), 1);
        auto const kernel = [&](auto const& stream, auto const& weights, auto& to) {
            return stream
                .prepare(Plan::bind({.weights = weights}), Plan::collapse(x.const_view()), Plan::collapse(to.view()))
                ->kernel;
        };
        return kernel(on, w, y) == kernel(device.with<Stem<>>(), other_w, other);
    };
    CHECK(is_stem(24, "nhwc+8"));
    CHECK(!is_stem(20, "nhwc"));  // rows of 40 bytes
    CHECK(!is_stem(20, "nhwc+4"));  // a TMA store would write to the gap after them
    for (char const* sizes_and_layouts :
         {"n2c3h14w16k24r7s7pt3l3b3r3u2v2d1e1g1 nhwc>nhwc+8", "n2c3h14w16k20r7s7pt3l3b3r3u2v2d1e1g1 nhwc>nhwc+4"})
        check_case(Case::parse(sizes_and_layouts + std::string(" kcrs half C #3")),
                   run_conv<decltype(on), fk::half, fk::filter(7, 7).stride(2).pad(3)>, on);
}

TEST_CASE("HIP: Stem's tile width leaves few pixels out of bounds") {
    using fk::Index;
    StemShape const shape = StemShape::of(Index<4>{{64, 64, 112, 112}}, 3, fk::filter(7, 7).stride(2).pad(3), 12288);
    CHECK(shape.columns() == 16);
    CHECK(shape.rows_of_x == 13);
    CHECK(shape.sets() == 1);
    CHECK(shape.chunks == 3);
    CHECK(shape.panels == 4);
    CHECK(shape.tiles({{64, 64, 112, 112}}) == 64 * 7 * 28);
    CHECK(StemShape::of({{1, 64, 1, 500}}, 3, fk::filter(1, 7), 12288).rows() == 1);
    // one TMA box per row of x: fewer rows
    StemShape const by_rows = StemShape::of({{1, 32, 149, 149}}, 3, fk::filter(3, 3).stride(2), 12288, false, 897);
    CHECK((by_rows.by_rows && by_rows.whole_words && by_rows.sets() == 2 && by_rows.columns() == 32));
    CHECK_FALSE(StemShape::of({{1, 32, 147, 147}}, 3, fk::filter(3, 3), 12288, false, 447).whole_words);
    CHECK(StemShape::of({{1, 64, 16, 16}}, 10, fk::filter(3, 3), 12288).chunks == 4);
    CHECK(StemShape::of({{1, 64, 16, 16}}, 11, fk::filter(3, 3), 12288).panels == 0);
}

TEST_CASE("HIP: Stem refuses x of other strides and leaves y untouched") {
    fk::hip::Device device = sm90a_device();
    auto stem = device.with<Stem<>>();
    auto const w = fk::random<fk::half>(device, fk::krsc(8, 3, 3, 3), 1),
               x = fk::random<fk::half>(device, fk::nchw(1, 3, 3, 3), 2);
    auto y = fk::tensor<fk::half>(device, fk::nhwc(1, 1, 1, 8), {1, 2, 3, 4, 5, 6, 7, 8});
    auto const layer = fk::Plan<fk::Conv<fk::filter(3, 3)>>::bind({.weights = w});
    CHECK(refusal([&] { layer(stem, x, y); }).find("Stem: x's pixels are not contiguous in rows") != std::string::npos);
    fk::half got[8];
    device.synchronize();
    y.copy_to(got);
    for (int i = 0; i < 8; ++i) CHECK(static_cast<float>(got[i]) == static_cast<float>(i + 1));
}
