// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/depthwise_planes.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <string>
#include <vector>

#include "backend/hip/gpu.hpp"
#include "backend/hip/launch_results.hpp"
#include "support/check_case.hpp"
#include "support/half_types.hpp"
#include "support/run_case.hpp"
#include "support/static_geometries.hpp"
#include "support/stored_values.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fusekit::hip::Depthwise;
using fusekit::hip::DepthwisePlaneTiles;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;

/// NCHW layouts of x, the weights and y.
struct Planes {
    static constexpr char const* all[2][3] = {{"nchw", "kcrs", "nchw"}, {"nchw+1", "krsc", "nchw+3"}};
};

template <auto filter, class T>
constexpr bool has_planes = fk::hip::DepthwiseEntry::has_planes<fk::Plan<fk::Conv<filter>>, T, T>;

/// Numbers of a square filter of half, in tiles of a DepthwiseShape.
template <int size, bool has_few_taps>
constexpr bool is_unrolled =
    fk::hip::DepthwiseEntry::has_unrolled<fk::Plan<fk::Conv<fk::filter(size, size).groups(8)>>, fk::half, has_few_taps>;
template <int size, int stride>
constexpr DepthwisePlaneTiles::Numbers numbers_of{
    .window = {size, size},
    .strides = {stride, stride},
    .columns = fk::hip::DepthwiseShape<fk::hip::UnrolledWindow<size, size, stride, stride>, 2,
                                       fk::detail::Axis::pixel>::columns,
    .x_bytes = 2,
    .y_bytes = 2,
    .multiplier = 1,
    .few_taps = size <= 3};

using Elements = HalvesAnd<float>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("HIP: depthwise convolutions of planes in shared memory are exact", "", Elements) {
    fk::hip::Device device = gpu();
    auto depthwise = device.with<Depthwise<>>();
    using Scheduled = decltype(depthwise);
    std::string const type = " " + std::string(fk::name(fk::data_type<TestType>));
    int number = 0;
    for (char const* sizes : {"n4c70h7w7k70r3s3pt1l1b1r1u1v1d1e1g70",  // several planes a CTA, and fewer in the last
                              "n5c5h14w14k5r3s3pt1l1b1r1u1v1d1e1g5", "n4c3h27w30k3r3s3pt1l1b1r1u1v1d1e1g3",
                              "n4c7h9w13k21r3s3pt0l1b2r0u1v1d1e1g7",  // three filters a channel, padding of some sides
                              "n4c10h13w12k10r3s3pt1l0b1r2u1v1d1e1g10",  // vectors of x are misaligned
                              "n4c6h28w30k6r3s3pt1l1b1r1u2v2d1e1g6", "n4c9h11w17k9r3s3pt0l0b1r1u2v2d1e1g9",
                              "n4c3h12w1k3r3s3pt2l1b2r1u1v1d1e1g3", "n4c2h300w18k2r3s3pt1l1b1r1u1v1d1e1g2",
                              "n4c10h13w11k10r5s5pt2l2b2r2u1v1d1e1g10", "n5c4h15w21k8r5s5pt2l1b1r2u2v2d1e1g4",
                              "n4c21h7w7k21r7s7pt3l3b3r3u1v1d1e1g21", "n4c2h1w41k2r7s7pt3l3b3r3u1v1d1e1g2"})
        for (char const* layouts : {" nchw kcrs", " nchw+1 krsc", " nchw+4 kcrs+1"})
            check_case(Case::parse(sizes + (layouts + type) + " CB #" + std::to_string(++number % 11 + 1)),
                       run_conv<Scheduled, TestType, fk::dynamic, fk::Bias>, depthwise);
}

TEST_CASE("HIP: depthwise plans of planes apply operators, and rotate filters of gradients by x") {
    fk::hip::Device device = gpu();
    auto depthwise = device.with<Depthwise<>>();
    using Scheduled = decltype(depthwise);
    constexpr auto filter = fk::filter(3, 3).pad(1).groups(12);
    std::string const size = "n4c12h9w14k12r3s3pt1l1b1r1u1v1d1e1g12 nchw kcrs half";
    check_case(Case::parse(size + " NAC relu #1"), WithPrologue<Norm, Relu>::run<Scheduled, fk::half, filter>,
               depthwise);
    if constexpr (!fk::hip::arch::is_targeted<fk::hip::arch::Amd>) {
        check_case(Case::parse(size + " CRA relu #3"), run_conv<Scheduled, fk::half, filter, fk::Residual, Relu>,
                   depthwise);
        oracle::Window const window{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1, .groups = 6};
        check_stored_conv<fk::half, float>(depthwise, {"nchw", "nchw", "nchw", "nchw"}, {4, 6, 9, 11}, 12, window);
    }
    auto const on = [on_device = &depthwise](std::uint64_t) -> auto& { return *on_device; };
    check_geometry<fk::half, fk::filter(2, 4).pad(1).stride(3, 1).groups(8)>({4, 8, 19, 17}, 8, on);
    check_geometry<float, fk::filter(6, 1).pad(3, 0).stride(1, 3).groups(4)>({4, 4, 16, 26}, 4, on);
    check_geometry<fk::half, fk::filter(5).pad(2).groups(4)>({4, 4, 1, 33}, 4, on);
    check_geometry<fk::half, fk::filter(3, 3).pad(1).groups(2)>({4, 2, 1, 1}, 2, on);
    check_transposed<fk::half, fk::filter(3, 2).pad(2, 1).groups(6), false, Planes>(depthwise, {4, 6, 13, 9}, 6);
}

TEST_CASE("HIP: CTAs of a depthwise convolution compute planes or bands of rows, with the same results") {
    constexpr int size = 3, c = 10, n = 40, h = 37, w = 14;  // a tile for each SM
    using Plan = fk::Plan<fk::Conv<fk::dynamic>>;
    fk::hip::Device device = gpu();
    auto depthwise = device.with<Depthwise<>>();
    fk::Tensor<fk::half, fk::hip::Device> const x = fk::random<fk::half>(device, fk::nchw(n, c, h, w)),
                                                weights = fk::random<fk::half>(device, fk::kcrs(c, 1, size, size));
    fk::Tensor<fk::half, fk::hip::Device> y(device, fk::nchw(n, c, h, w));
    auto const layer = Plan::bind({.weights = weights, .filter = fk::filter(size, size).pad(size / 2).groups(c)});
    auto launch = depthwise.prepare(layer, Plan::collapse(x.const_view()), Plan::collapse(y.view())).value();
    if constexpr (requires { launch.params.depthwise_planes.rows; }) {
        if (launch.shared_bytes == 0) SKIP("the library selects another kernel");
        auto const results = [&] { return launch_results(launch, y, device); };
        std::vector<float> const once = results();
        DepthwisePlaneTiles& tiles = launch.params.depthwise_planes;
        auto const groups = static_cast<int>(tiles.column_groups.value());
        auto const divisor = [](int value) { return fk::hip::FastDivmod(static_cast<std::uint32_t>(value)); };
        auto const up = [](int a, int b) { return (a + b - 1) / b; };
        auto const bytes_of = [](int elements) { return (elements * 2 + 31) / 16 * 16; };
        struct Tile {
            int planes, row_groups, thread_rows;
        };
        for (auto const [planes, row_groups, thread_rows] :
             {Tile{1, 1, 1}, Tile{1, 1, 5}, Tile{1, 3, 4}, Tile{4, 4, 10}, Tile{10, 2, 19}, Tile{7, 1, 37}}) {
            tiles.planes = planes, tiles.thread_rows = thread_rows, tiles.rows = row_groups * thread_rows;
            tiles.row_groups = divisor(row_groups);
            tiles.bands = divisor(up(h, tiles.rows)), tiles.plane_blocks = divisor(up(c, planes));
            tiles.threads = up(planes * row_groups * groups, 32) * 32;
            int const read = (std::min)(tiles.rows - 1 + size, h);
            tiles.y_offset = bytes_of(planes * (planes > 1 ? h : read) * w);
            launch.blocks = static_cast<unsigned>(up(h, tiles.rows) * up(c, planes) * n);
            launch.threads = static_cast<unsigned>(tiles.threads);
            launch.shared_bytes =
                static_cast<unsigned>(tiles.y_offset + bytes_of(planes * (std::min)(tiles.rows, h) * w));
            CAPTURE(planes, row_groups, thread_rows);
            CHECK(results() == once);
        }
    }
}

TEST_CASE("HIP: depthwise convolutions that copy planes to shared memory") {
    constexpr bool on_amd = fk::hip::arch::is_targeted<fk::hip::arch::Amd>;
    static_assert(has_planes<fk::filter(3, 3).groups(8), float> != on_amd);
    static_assert(has_planes<fk::dynamic, fk::bfloat16> != on_amd && !has_planes<fk::dynamic, fk::int8>);
    static_assert(has_planes<fk::filter(7, 7).groups(8), fk::half> != on_amd);
    static_assert(!is_unrolled<7, true> && !is_unrolled<3, false>);
    static_assert(!has_planes<fk::filter(3, 3).dilation(2).groups(8), fk::half>);
    fk::hip::Device device = gpu();
    using Plan = fk::Plan<fk::Conv<fk::dynamic>>;
    auto const copies = [&](fk::Layout<4> const& of_x, int size = 3) {
        auto const channels = static_cast<int>(of_x.shape[1]);
        fk::Tensor<fk::half, fk::hip::Device> const x(device, of_x), weights(device, fk::kcrs(channels, 1, size, size));
        fk::Tensor<fk::half, fk::hip::Device> y(device,
                                                fk::nchw(of_x.shape[0], channels, of_x.shape[2], of_x.shape[3]));
        auto const layer =
            Plan::bind({.weights = weights, .filter = fk::filter(size, size).pad(size / 2).groups(channels)});
        return device.with<Depthwise<>>()
                   .prepare(layer, Plan::collapse(x.const_view()), Plan::collapse(y.view()))
                   .value()
                   .shared_bytes > 0;
    };
    if (!copies(fk::nchw(20, 640, 7, 7))) SKIP("the library selects another kernel");
    CHECK((copies(fk::nchw(40, 40, 28, 28)) && copies(fk::nchw(40, 40, 30, 30))));
    CHECK_FALSE(copies(fk::nhwc(40, 30, 30, 40)));  // planes are not dense
    CHECK_FALSE(copies(fk::nchw(40, 40, 32, 32)));  // vectors of 16 bytes are aligned
    CHECK(copies(fk::nchw(40, 640, 7, 7), 5));
    CHECK_FALSE(copies(fk::nchw(40, 640, 14, 14), 5));  // vectors of 2 elements are aligned
    CHECK_FALSE(copies(fk::nchw(1, 2, 7, 7)));  // one CTA
    CHECK_FALSE(copies(fk::nchw(1, 2, 150, 20001)));  // no tile fits
}

TEST_CASE("HIP: tiles of planes cover y and fit shared memory") {
    for (auto const& of :
         {numbers_of<3, 1>, numbers_of<3, 2>, numbers_of<2, 1>, numbers_of<5, 1>, numbers_of<5, 2>, numbers_of<7, 1>})
        for (int const hw : {1, 7, 14, 28, 56, 112, 301})
            for (int const c : {1, 16, 116, 1152})
                for (int const n : {1, 32}) {
                    DepthwisePlaneTiles tiles;
                    CAPTURE(of.window.h, of.strides.h, hw, c, n);
                    std::int64_t const extent = (hw - 1) / of.strides.h + 1;
                    REQUIRE(tiles.choose(of, {{n, c, hw, hw}}, {{n, c, extent, extent}}));
                    auto const across = static_cast<int>(tiles.column_groups.value()),
                               down = static_cast<int>(tiles.row_groups.value());
                    CHECK(across * of.columns >= extent);
                    CHECK(tiles.rows == down * tiles.thread_rows);
                    CHECK((tiles.planes == 1 || tiles.rows >= extent));
                    CHECK(tiles.bands.value() * static_cast<unsigned>(tiles.rows) >= extent);
                    CHECK(tiles.plane_blocks.value() * static_cast<unsigned>(tiles.planes) >= static_cast<unsigned>(c));
                    CHECK(tiles.ctas == n * std::int64_t{tiles.bands.value()} * tiles.plane_blocks.value());
                    CHECK((tiles.threads % 32 == 0 && tiles.threads <= DepthwisePlaneTiles::max_threads));
                    CHECK(tiles.threads >= tiles.planes * across * down);
                    int const read = (std::min)((tiles.rows - 1) * of.strides.h + of.window.h, hw);
                    CHECK(tiles.y_offset >= tiles.planes * (tiles.planes > 1 ? hw : read) * hw * 2 + 16);
                    CHECK(tiles.shared_bytes - tiles.y_offset >=
                          tiles.planes * (std::min)(tiles.rows, static_cast<int>(extent)) * extent * 2 + 16);
                    CHECK(tiles.shared_bytes <= DepthwisePlaneTiles::max_shared_bytes);
                }
    DepthwisePlaneTiles tiles;
    CHECK_FALSE(tiles.choose(numbers_of<3, 1>, {{1, 2, 0, 7}}, {{1, 2, 0, 7}}));
    REQUIRE(tiles.choose(numbers_of<3, 1>, {{32, 960, 7, 7}}, {{32, 960, 7, 7}}));
    CHECK((tiles.planes % 8 == 0 && 960 % tiles.planes == 0 && tiles.thread_rows == 4));
}
