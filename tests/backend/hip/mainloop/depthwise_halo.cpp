// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/depthwise_halo.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "backend/hip/gpu.hpp"
#include "backend/hip/launch_results.hpp"
#include "support/check_case.hpp"
#include "support/half_types.hpp"
#include "support/run_case.hpp"
#include "support/static_geometries.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fusekit::hip::Depthwise;
using fusekit::hip::DepthwiseHaloTiles;

namespace {

using Relu = fk::Activation<fk::Relu>;

/// Channels-last layouts of x, the weights and y.
struct ChannelsLast {
    static constexpr char const* all[3][3] = {
        {"nhwc", "kcrs", "nhwc"}, {"nhwc", "krsc", "nhwc*2"}, {"nhwc+2", "kcrs", "nhwc+2"}};
};

template <int size, int stride>
constexpr auto of_window = fk::hip::DepthwiseHaloNumbers::of<fk::hip::UnrolledWindow<size, size, stride, stride>>();

constexpr auto of_row = fk::hip::DepthwiseHaloNumbers::of<fk::hip::UnrolledWindow<1, 5, 1, 1>>(),
               of_column = fk::hip::DepthwiseHaloNumbers::of<fk::hip::UnrolledWindow<5, 1, 2, 1>>();

template <int size>
using Size = std::integral_constant<int, size>;

template <auto filter>
constexpr bool has_halo = fk::hip::DepthwiseEntry::has_halo<fk::Plan<fk::Conv<filter>>, fk::half, fk::half>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("HIP: depthwise convolutions of a halo in shared memory are exact", "", HalfTypes) {
    fk::hip::Device device = gpu();
    auto depthwise = device.with<Depthwise<>>();
    using Scheduled = decltype(depthwise);
    std::string const type = " " + std::string(fk::name(fk::data_type<TestType>));
    int number = 0;
    for (char const* sizes : {"n5c6h9w15k6r3s3pt1l1b1r1u1v1d1e1g6",      // 4-byte copies, planes of several images
                              "n3c20h8w7k20r3s3pt0l2b2r0u1v1d1e1g20",    // 8-byte copies
                              "n2c72h50w5k72r3s3pt1l1b1r1u1v1d1e1g72",   // 16-byte copies, rows that reuse SMEM
                              "n1c32h13w61k32r3s3pt1l1b1r1u1v1d1e1g32",  // CTAs along columns
                              "n1c34h15w62k34r3s3pt1l0b1r1u2v2d1e1g34", "n9c2h12w12k2r5s5pt2l2b2r2u1v1d1e1g2",
                              "n1c58h19w18k58r5s5pt2l1b1r2u2v2d1e1g58", "n2c40h18w33k40r7s7pt3l3b3r3u1v1d1e1g40",
                              "n1c10h1w1k10r7s7pt3l3b3r3u1v1d1e1g10"})
        for (char const* layouts : {" nhwc kcrs", " nhwc krsc", " nhwc*2 kcrs"})
            check_case(Case::parse(sizes + (layouts + type) + " CB #" + std::to_string(++number % 11 + 1)),
                       run_conv<Scheduled, TestType, fk::dynamic, fk::Bias>, depthwise);
}

TEST_CASE("HIP: depthwise plans of a halo apply operators, and rotate filters of gradients by x") {
    fk::hip::Device device = gpu();
    auto depthwise = device.with<Depthwise<>>();
    using Scheduled = decltype(depthwise);
    constexpr auto filter = fk::filter(3, 3).pad(1).groups(12);
    check_case(Case::parse("n2c12h9w16k12r3s3pt1l1b1r1u1v1d1e1g12 nhwc krsc half CRA relu #3"),
               run_conv<Scheduled, fk::half, filter, fk::Residual, Relu>, depthwise);
    auto const on = [on_device = &depthwise](std::uint64_t) -> auto& { return *on_device; };
    check_geometry<fk::half, fk::filter(2, 6).pad(1).stride(3, 1).groups(8)>({2, 8, 19, 17}, 8, on);
    check_geometry<fk::bfloat16, fk::filter(6, 1).pad(3, 0).stride(1, 3).groups(4)>({1, 4, 16, 26}, 4, on);
    check_geometry<fk::half, fk::filter(5).pad(2).groups(4)>({2, 4, 1, 33}, 4, on);  // one row
    check_geometry<fk::half, fk::filter(3, 3).pad(1).groups(2)>({1, 2, 1, 1}, 2, on);
    check_transposed<fk::half, fk::filter(5, 4).pad(2, 3).groups(6), false, ChannelsLast>(depthwise, {2, 6, 13, 8}, 6);
}

TEMPLATE_TEST_CASE("HIP: CTAs of a depthwise convolution compute one step or several, with the same results", "",
                   Size<3>, Size<7>) {
    constexpr int size = TestType::value, c = 8, n = 5, h = 37, w = 9;
    using Window = fk::hip::UnrolledWindow<size, size, 1, 1>;
    using Halo = fk::hip::DepthwiseHaloShape<Window>;
    using Plan = fk::Plan<fk::Conv<fk::dynamic>>;
    fk::hip::Device device = gpu();
    auto depthwise = device.with<Depthwise<>>();
    fk::Tensor<fk::half, fk::hip::Device> const x = fk::random<fk::half>(device, fk::nhwc(n, h, w, c)),
                                                weights = fk::random<fk::half>(device, fk::kcrs(c, 1, size, size));
    fk::Tensor<fk::half, fk::hip::Device> y(device, fk::nhwc(n, h, w, c));
    auto const layer = Plan::bind({.weights = weights, .filter = fk::filter(size, size).pad(size / 2).groups(c)});
    auto launch = depthwise.prepare(layer, Plan::collapse(x.const_view()), Plan::collapse(y.view())).value();
    if constexpr (requires { launch.params.depthwise_halo.rows; }) {
        if (launch.shared_bytes == 0) SKIP("the GPU has no cp.async");
        auto const results = [&] { return launch_results(launch, y, device); };
        std::vector<float> const once = results();
        DepthwiseHaloTiles& tiles = launch.params.depthwise_halo;
        int const row_bytes = tiles.halo_columns * 128, weight_bytes = tiles.shared_bytes - tiles.ring_rows * row_bytes;
        for (int const steps : {1, 2, 4, 100}) {
            tiles.row_groups = 1, tiles.step_rows = Halo::rows, tiles.rows = steps * Halo::rows;
            tiles.ring_rows = DepthwiseHaloTiles::stages * tiles.step_rows - 1 + size;
            int const parts = (h + tiles.rows - 1) / tiles.rows;
            launch.blocks = tiles.plane_blocks.value() * tiles.tiles_across.value() * static_cast<unsigned>(parts);
            launch.shared_bytes = static_cast<unsigned>(weight_bytes + tiles.ring_rows * row_bytes);
            CHECK(results() == once);
        }
    }
}

TEST_CASE("HIP: filters that Depthwise computes with a halo in shared memory") {
    constexpr bool on_amd = fk::hip::arch::is_targeted<fk::hip::arch::Amd>;
    static_assert(has_halo<fk::filter(3, 3).groups(8)> != on_amd && has_halo<fk::filter(7, 7).groups(8)> != on_amd);
    static_assert(has_halo<fk::dynamic> != on_amd);
    static_assert(!has_halo<fk::filter(3, 3).dilation(2).groups(8)> && !has_halo<fk::filter(9, 9).groups(8)>);
    static_assert(!fk::hip::DepthwiseEntry::has_halo<fk::Plan<fk::Conv<fk::dynamic>>, float, float>);
    static_assert(!fk::hip::DepthwiseEntry::has_halo<fk::Plan<Relu, fk::Conv<fk::dynamic>>, fk::half, fk::half>);
}

TEST_CASE("HIP: tiles of depthwise convolutions cover y and fit shared memory") {
    constexpr int sms = 132;
    for (auto const& of : {of_window<3, 1>, of_row, of_column, of_window<5, 1>, of_window<5, 2>, of_window<7, 1>})
        for (int const hw : {1, 7, 14, 28, 56, 112, 300})
            for (int const c : {2, 16, 144, 1152}) {
                DepthwiseHaloTiles tiles;
                CAPTURE(of.window.h, of.strides.h, hw, c);
                REQUIRE(tiles.choose(of, {{32, c, hw, hw}}, 2, sms));
                auto const columns = static_cast<int>(tiles.column_groups.value()) * of.columns;
                CHECK(columns * static_cast<int>(tiles.tiles_across.value()) >= hw);
                CHECK(tiles.ctas == 32 * c / 64 * tiles.tiles_across.value() * ((hw + tiles.rows - 1) / tiles.rows));
                CHECK(tiles.halo_columns == (columns - 1) * of.strides.w + of.window.w);
                CHECK((tiles.rows % tiles.step_rows == 0 && tiles.step_rows == tiles.row_groups * of.rows));
                CHECK((tiles.threads % 32 == 0 && tiles.threads <= DepthwiseHaloTiles::max_threads));
                CHECK(tiles.threads >= columns / of.columns * tiles.row_groups * 32 / of.channels);
                // all rows of a CTA, or those of a step and the rows of further steps that are loaded meanwhile
                int const ring = (std::min)(tiles.rows, DepthwiseHaloTiles::stages * tiles.step_rows);
                CHECK(tiles.ring_rows == (ring - 1) * of.strides.h + of.window.h);
                // a step reads rows of at most twice the ring, also where y has fewer rows than a step
                CHECK(tiles.ring_rows >= (tiles.step_rows - 1) * of.strides.h + of.window.h);
                CHECK(tiles.shared_bytes >= tiles.ring_rows * tiles.halo_columns * 128);
                CHECK(tiles.shared_bytes <= DepthwiseHaloTiles::max_shared_bytes);
            }
    DepthwiseHaloTiles tiles;
    REQUIRE(tiles.choose(of_window<3, 1>, {{32, 1152, 7, 7}}, 2, sms));
    CHECK(tiles.ctas >= 4 * sms);
}
