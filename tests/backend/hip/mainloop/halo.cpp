// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/halo.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <string>

#include "backend/hip/sm90a_device.hpp"
#include "support/amax_values.hpp"
#include "support/check_case.hpp"
#include "support/half_types.hpp"
#include "support/run_case.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fusekit::hip::Halo, fusekit::hip::HaloShape;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;
using PerActivation = fk::BatchNormInference<fk::PerActivation>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("HIP: Halo convolutions of few channels are exact", "", HalfTypes) {
    fk::hip::Device device = sm90a_device();
    auto halo = device.with<Halo<>>();
    using Scheduled = decltype(halo);
    std::string const type = std::is_same_v<TestType, fk::half> ? " half" : " bfloat16";
    for (char const* sizes : {"n1c8h3w3k8r3s3pt0l0b0r0u1v1d1e1g1",      // one pixel
                              "n3c64h11w55k64r3s3pt1l1b1r1u1v1d1e1g1",  // tiles of 4 rows, the last of 3
                              "n19c24h4w5k40r3s3pt1l1b1r1u1v1d1e1g1",  // whole images, more than the GPU has SMs
                              "n2c40h6w28k16r2s4pt1l2b0r1u1v1d1e1g1",  // an even filter, uneven padding
                              "n2c56h3w228k48r1s5pt0l2b0r2u1v1d1e1g1",  // rows as long as a tile
                              "n1c16h70w2k64r9s1pt4l0b4r0u1v1d1e1g1",
                              "n1c64h5w224k64r3s3pt1l1b1r1u1v1d1e1g1",  // 4 tiles a row, of 4 rows and 1 row
                              "n1c32h9w147k64r3s3pt1l1b1r1u1v1d1e1g1",  // the last of a row's tiles is narrower
                              "n2c8h2w301k16r2s4pt1l2b0r1u1v1d1e1g1", "n1c16h70w100k8r9s1pt4l0b4r0u1v1d1e1g1",
                              "n3c48h9w96k192r3s3pt1l1b1r1u1v1d1e1g1",  // 3 channel tiles
                              "n2c16h5w12k72r3s3pt0l1b1r0u1v1d1e1g1", "n1c8h4w7k512r2s2pt0l0b0r0u1v1d1e1g1"}) {
        std::string const text = sizes + std::string(" nhwc krsc") + type;
        check_case(Case::parse(text + " CBA relu #3"), run_conv<Scheduled, TestType, fk::dynamic, fk::Bias, Relu>,
                   halo);
    }
    std::string const size = "n3c16h9w8k24r3s3pt1l1b1r1u1v1d1e1g1 ";
    check_case(Case::parse(size + "nhwc krsc" + type + " CN #1"), run_conv<Scheduled, TestType, fk::dynamic, Norm>,
               halo);
    check_case(Case::parse(size + "nhwc krsc" + type + " CRA relu #1"),
               run_conv<Scheduled, TestType, fk::dynamic, fk::Residual, Relu>, halo);
    check_case(Case::parse(size + "nhwc krsc" + type + " CM #2"),
               run_conv<Scheduled, TestType, fk::dynamic, PerActivation>, halo);
    check_case(Case::parse(size + "nhwc+8>nhwc krsc+8" + type + " C #3"), run_conv<Scheduled, TestType, fk::dynamic>,
               halo);
    std::string const split = "n1c16h6w235k24r3s3pt1l1b1r1u1v1d1e1g1 nhwc krsc" + type;  // several tiles a row
    check_case(Case::parse(split + " CRA relu #1"), run_conv<Scheduled, TestType, fk::dynamic, fk::Residual, Relu>,
               halo);
    for (char const* sizes : {"n2c128h9w20k64r3s3pt1l1b1r1u1v1d1e1g1",  // two stages of x a tile
                              "n1c200h6w235k72r3s3pt1l1b1r1u1v1d1e1g1",  // the last has fewer channels
                              "n19c72h3w4k8r2s2pt0l1b1r0u1v1d1e1g1",  // slots of filters that are no multiple of taps
                              "n5c512h5w7k16r3s3pt1l1b1r1u1v1d1e1g1"})
        check_case(Case::parse(sizes + std::string(" nhwc krsc") + type + " CRA relu #2"),
                   run_conv<Scheduled, TestType, fk::dynamic, fk::Residual, Relu>, halo);
    std::string const many = "n1c16h6w33k136r3s3pt1l1b1r1u1v1d1e1g1 nhwc krsc" + type;  // 3 channel tiles
    check_case(Case::parse(many + " CRA relu #1"), run_conv<Scheduled, TestType, fk::dynamic, fk::Residual, Relu>,
               halo);
    check_case(Case::parse(many + " CN #1"), run_conv<Scheduled, TestType, fk::dynamic, Norm>, halo);
    check_case(Case::parse(many + " CM #2"), run_conv<Scheduled, TestType, fk::dynamic, PerActivation>, halo);
    check_case(Case::parse(split + " CM #2"), run_conv<Scheduled, TestType, fk::dynamic, PerActivation>, halo);
}

TEMPLATE_TEST_CASE("HIP: Halo convolutions of 8-bit elements are exact", "", fk::int8, fk::e4m3, fk::e5m2) {
    fk::hip::Device device = sm90a_device();
    auto halo = device.with<Halo<240>>();
    using Scheduled = decltype(halo);
    constexpr bool integers = std::is_same_v<TestType, fk::int8>;
    std::string const type = integers                             ? " int8/float"
                             : std::is_same_v<TestType, fk::e4m3> ? " e4m3/float"
                                                                  : " e5m2/float";
    auto const check = [&]<class... Ops>(char const* sizes, char const* rest) {
        check_case(Case::parse(sizes + std::string(" nhwc krsc") + type + rest),
                   run_conv<Scheduled, TestType, fk::dynamic, Ops...>, halo);
    };
    char const* const uneven = "n2c48h6w28k16r2s4pt1l2b0r1u1v1d1e1g1";  // an even filter, uneven padding
    for (char const* sizes : {"n1c16h3w3k16r3s3pt0l0b0r0u1v1d1e1g1",  // one pixel
                              "n3c64h11w55k64r3s3pt1l1b1r1u1v1d1e1g1",  // tiles of 4 rows, the last of 3
                              "n19c32h4w5k48r3s3pt1l1b1r1u1v1d1e1g1",  // whole images
                              uneven, "n2c64h3w236k48r1s5pt0l2b0r2u1v1d1e1g1",  // rows as long as a tile
                              "n1c16h70w2k64r9s1pt4l0b4r0u1v1d1e1g1",
                              "n1c64h9w245k32r3s3pt1l1b1r1u1v1d1e1g1",  // tiles of an even number of columns
                              "n2c32h9w30k144r3s3pt1l1b1r1u1v1d1e1g1",  // 3 channel tiles
                              "n2c80h9w30k144r3s3pt1l1b1r1u1v1d1e1g1"}) {  // 2 stages of x a tile
        if (!integers && std::string(sizes).find("c80") != std::string::npos) continue;
        if constexpr (integers) check.template operator()<fk::Bias, fk::Requantize>(sizes, " CBQ #3");
        else check.template operator()<fk::Bias, Relu, fk::Scale>(sizes, " CBAS relu #2");
    }
    if constexpr (integers) check.template operator()<fk::Residual, fk::Requantize>(uneven, " CRQ #2");
    else check.template operator()<fk::Residual, fk::Bias>(uneven, " CRB #2");
}

// Channels of x or y that do not fill the filters' tile, taps in reverse, and padding wider than the taps reach.
TEST_CASE("HIP: Halo transposed convolutions of stride 1 are exact") {
    fk::hip::Device device = sm90a_device();
    auto halo = device.with<Halo<>>();
    check_transposed<fk::half, fk::filter(3, 3).pad(1), false, ChannelsLastLayouts>(halo, {2, 64, 11, 55}, 40);
    check_transposed<fk::half, fk::filter(2, 3).pad(0, 3, 2, 1), false, ChannelsLastLayouts>(halo, {2, 24, 8, 9}, 64);
    check_transposed<fk::half, fk::filter(3, 3).pad(1), false, ChannelsLastLayouts>(halo, {1, 24, 5, 240}, 40);
    check_transposed<fk::half, fk::filter(3, 3).pad(1), false, ChannelsLastLayouts>(halo, {2, 152, 7, 9}, 40);
    check_transposed<fk::half, fk::filter(3, 3).pad(1), false, ChannelsLastLayouts>(halo, {2, 72, 7, 9}, 136);
    check_transposed<fk::bfloat16, fk::filter(3, 1), false, ChannelsLastLayouts>(halo, {3, 56, 7, 20}, 16);
    // boxes of filters that read later taps; tiles of a part of a row
    check_transposed<fk::half, fk::filter(3, 3).pad(1), false, ChannelsLastLayouts>(halo, {2, 24, 21, 55}, 24);
    check_transposed<fk::half, fk::filter(3, 3).pad(1), false, ChannelsLastLayouts>(halo, {2, 8, 6, 255}, 24);
}

// The MMAs' rows past the last channel multiply weights of other taps and channels.
TEST_CASE("HIP: infinities and NaN reach only the outputs of Halo's transposed convolutions that read them") {
    fk::hip::Device device = sm90a_device();
    auto halo = device.with<Halo<>>();
    check_transposed_infinities<fk::half, fk::filter(3, 3).pad(1)>(halo, {2, 24, 9, 11}, 40);
    check_transposed_infinities<fk::half, fk::filter(3, 3)>(halo, {2, 72, 8, 11}, 136);
}

TEST_CASE("HIP: ActivationSlope is fused into Halo's epilogue") {
    using Plan = fk::Plan<fk::TransposedConv<fk::filter(3, 3).pad(1)>, fk::ActivationSlope<fk::Relu>>;
    static_assert(fusekit::hip::reads_in_bulk<Plan, fk::half, fk::half>);
    fk::hip::Device device = sm90a_device();
    check_slope_after_transposed(device, device.with<Halo<>>(), {2, 56, 9, 7}, 40);
}

TEST_CASE("HIP: Halo of 8-bit elements stages 16-bit results in the halo's stage") {
    fk::hip::Device device = sm90a_device();
    auto halo = device.with<Halo<240>>();
    using Scheduled = decltype(halo);
    for (char const* sizes : {"n3c64h11w55k64r3s3pt1l1b1r1u1v1d1e1g1", "n2c16h6w28k24r2s4pt1l2b0r1u1v1d1e1g1"}) {
        auto const parse = [&](char const* rest) { return Case::parse(sizes + std::string(" nhwc krsc ") + rest); };
        check_case(parse("e4m3/half CRB #3"),
                   run_conv<Scheduled, Types<fk::e4m3, fk::half>, fk::dynamic, fk::Residual, fk::Bias>, halo);
        check_case(parse("int8/half CB #3"), run_conv<Scheduled, Types<fk::int8, fk::half>, fk::dynamic, fk::Bias>,
                   halo);
    }
}

TEST_CASE("HIP: Amax after Halo ignores the gaps between rows") {
    fk::hip::Device device = sm90a_device();
    auto bytes = device.with<Halo<240>>();
    check_amax<fk::e4m3, fk::e4m3>(bytes, "nhwc", {2, 16, 7, 9}, 32, 0);
    auto halves = device.with<Halo<>>();
    check_amax<fk::half, fk::half>(halves, "nhwc", {2, 16, 7, 9}, 24, 0);
    check_amax<fk::half, fk::half>(halves, "nhwc", {1, 16, 7, 237}, 24, 0);
    check_amax<fk::half, fk::half>(halves, "nhwc", {2, 16, 7, 9}, 152, 0);
}

TEST_CASE("HIP: Halo splits rows of y if an image then has fewer tiles") {
    auto const of = [](int height, int width, fk::Filter<2> const& filter) {
        return HaloShape<232>::fewest_tiles(height, width, filter, 150 * 1024);
    };
    CHECK(of(224, 224, fk::filter(3, 3)).columns == 56);
    CHECK(of(224, 224, fk::filter(3, 3)).rows == 4);
    CHECK(of(224, 224, fk::filter(3, 3)).tiles_of_image(224, 224) == 4 * 56);
    CHECK(of(147, 147, fk::filter(3, 3)).tiles_of_image(147, 147) == 2 * 49);
    for (int width : {7, 14, 28, 55, 56, 96, 112}) CHECK_FALSE(of(width, width, fk::filter(3, 3)).splits_rows);
    for (int width = 1; width < 1000; width += 13)
        for (auto const& filter : {fk::filter(3, 3), fk::filter(4, 1), fk::filter(1, 9), fk::filter(2, 4)}) {
            HaloShape<232> const shape = of(width, width, filter);
            INFO(width << " columns, " << filter.size[0] << " x " << filter.size[1] << " taps");
            CHECK(shape.stages(150 * 1024, 2) == 2);
            CHECK(shape.rows * shape.pitch <= 232);
            CHECK(shape.columns * shape.tiles_of_row(width) >= width);
            CHECK(shape.columns * (shape.tiles_of_row(width) - 1) < width);
            auto const bytes = HaloShape<240, 64>::fewest_tiles(width, width, filter, 150 * 1024);
            CHECK(bytes.is_storable());
            CHECK(bytes.box_of_y().rows * bytes.box_of_y().pitch <= 240);
        }
    // tiles of whole windows of a pool
    for (int width : {2, 12, 56, 112, 224, 230, 1000}) {
        auto const pooled = HaloShape<232>::fewest_tiles(width, width, fk::filter(3, 3), 150 * 1024, true);
        CHECK((pooled.rows % 2 == 0 && pooled.columns % 2 == 0 && pooled.pitch % 2 == 0));
        CHECK(pooled.rows * pooled.pitch <= 232);
        CHECK(pooled.tiles_of_row(width) * pooled.columns >= width);
    }
    HaloShape<232> const split = of(224, 224, fk::filter(3, 3));
    CHECK((split.box_of_y().pitch == 56 && split.box_of_y().rows == 1 && split.box_step() == 58 * 128));
    fk::hip::TiledHalo const tiles(split, 96, {{3, 130, 224, 224}}, 150 * 1024, 8);
    CHECK(tiles.all == 3 * 3 * 4 * 56);
    CHECK((tiles.channel_tiles.value() == 3 && tiles.blocks == 2 && tiles.stages == 3));
    CHECK((tiles.first_channel(4) == 64 && tiles.first_channel(6) == 0));
}

TEST_CASE("HIP: a Halo tile has whole rows, and its stages hold every pixel that MMAs read") {
    HaloShape<232> const shape(55, 55, fk::filter(3, 3).pad(1));
    CHECK(shape.pitch == 57);
    CHECK(shape.rows == 4);
    CHECK(shape.bytes_of_x() == 6 * 57 * 128);
    CHECK(shape.stage_bytes() >= (2 * 57 + 2 + 232) * 128);
    CHECK(shape.stage_bytes() % 1024 == 0);
    CHECK(shape.stages(150 * 1024, 8) == 3);
    CHECK(HaloShape<232>(1, 1, fk::filter(3, 3)).stages(150 * 1024, 2) == 2);
    HaloShape<240, 64> const bytes(55, 55, fk::filter(3, 3).pad(1));
    CHECK(bytes.bytes_of_x() == 6 * 57 * 64);
    CHECK(bytes.stage_bytes() >= (2 * 57 + 2 + 240) * 64);
    CHECK(bytes.stages(150 * 1024, 8) == 6);
    HaloShape<240, 64, 128> const halves_of_bytes(55, 55, fk::filter(3, 3).pad(1));
    CHECK(halves_of_bytes.stage_bytes() >= 240 * 128);
}

TEST_CASE("HIP: Halo refuses unsupported convolutions and leaves y untouched") {
    fk::hip::Device device = sm90a_device();
    auto halo = device.with<Halo<>>();
    auto const w = fk::random<fk::half>(device, fk::krsc(8, 3, 3, 520), 1),
               x = fk::random<fk::half>(device, fk::nhwc(1, 3, 3, 520), 2);
    auto y = fk::tensor<fk::half>(device, fk::nhwc(1, 1, 1, 8), {1, 2, 3, 4, 5, 6, 7, 8});
    auto const layer = fk::Plan<fk::Conv<fk::filter(3, 3)>>::bind({.weights = w});
    CHECK(refusal([&] { layer(halo, x, y); }).find("Halo: C = 520 exceeds 512: use WarpSpecialized") !=
          std::string::npos);
    fk::half got[8];
    device.synchronize();
    y.copy_to(got);
    for (int i = 0; i < 8; ++i) CHECK(static_cast<float>(got[i]) == static_cast<float>(i + 1));
}
