// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/bulk_weight_gradient.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/one_gradient.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "support/weight_gradients.hpp"

using namespace test;
using fusekit::hip::BulkWeights;

namespace {

constexpr fk::hip::WeightCosts costs = fk::hip::NvidiaTuning::costs.weights;

#ifdef FEWER_KERNELS
/// One tile, with the clusters that the library chooses for it: the tests of clusters run all tiles.
struct Gradient {
    template <class Params>
    static fk::detail::Maybe<fk::hip::Launch<Params>> prepare(fk::hip::Gpu const& gpu, Params const& params,
                                                              std::size_t workspace_bytes) {
        using Tile = BulkWeights<128, 128, 64, 6>;
        if (!fk::hip::detail::fits_bulk_groups(params.filter(), params.y.layout.shape)) return {};
        auto const shares = fk::hip::share_pixels<Tile>(
            fk::hip::detail::weight_product(params),
            {gpu.processors(), fk::hip::NvidiaTuning::max_gradient_cluster, workspace_bytes}, costs);
        return fk::hip::launch_bulk_weight_gradient<Tile>(gpu, params, shares.split_k);
    }
};
#else
using Gradient = BulkGradient;
#endif

/// Weight gradients without accumulation into dw: the epilogue does not depend on how x and dy are loaded.
template <class T, auto filter>
void check_plain(auto& device, GradientCase const& of) {
    check_weight_gradient<T, filter, false>(device, of);
}

// Partial tiles of channels; a column of ones in the first column block of a tile and in the second; strides, dilations
// and uneven padding; 13 channels, the last stored alone; pixels split over several CTAs, fewest in the last.
template <class T>
void check_tiles(auto& device) {
    check_weight_gradient<T, fk::filter(1, 1)>(device, {{3, 72, 7, 9}, 136, "nhwc", "nhwc", "nhwc"});
    check_plain<T, fk::filter(3, 3).pad(1)>(device, {{2, 8, 13, 11}, 72, "nhwc", "nhwc", "nhwc"});
    check_plain<T, fk::filter(3, 2).pad(2, 0, 1, 1).stride(2, 1).dilation(1, 2)>(
        device, {{3, 16, 8, 9}, 8, "nhwc", "nhwc", "nchw*2"});
    check_weight_gradient<T, fk::filter(3, 3).pad(1)>(device, {{2, 13, 6, 5}, 24, "nhwc+3", "nhwc", "nhwc+3"});
    check_plain<T, fk::filter(1, 1).stride(2)>(device, {{9, 24, 23, 19}, 40, "nhwc", "nhwc", "nchw"});
}

}  // namespace

TEST_CASE("HIP: weight gradients of half on sm_90a, as the library chooses, agree with the oracle") {
    fk::hip::Device device = sm90a_device();
    check_tiles<fk::half>(device);
    check_weight_gradient<fk::half, fk::filter(1, 1)>(device, {{32, 13, 1, 1}, 24, "nhwc", "nhwc", "nhwc"});
}

TEST_CASE("HIP: weight gradients of bfloat16 on sm_90a's tensor cores agree with the oracle") {
    fk::hip::Device device = sm90a_device();
    OneGradient<Gradient> bulk(device);
    check_tiles<Types<fk::bfloat16, float>>(bulk);
}

// Groups of 16, 32, 64 and 128 channels, the last tile partly unused; channels whose rows TMA cannot address, of 4, 2
// and 1 elements' alignment, in 1x1 filters, so that rows of a tensor map have 2, 4 or 8 pixels, for a dw of 16 bits; a
// slice of channels.
TEMPLATE_TEST_CASE("HIP: weight gradients of groups and of odd channels on sm_90a agree with the oracle", "", fk::half,
                   (Types<fk::bfloat16, float>)) {
    fk::hip::Device device = sm90a_device();
    OneGradient<Gradient> bulk(device);
    check_plain<TestType, fk::filter(3, 3).pad(1).groups(5)>(bulk, {{2, 80, 7, 9}, 80, "nhwc", "nhwc", "nhwc"});
    if constexpr (std::is_same_v<TestType, fk::half>) {
        check_plain<fk::half, fk::filter(3, 3).pad(1).stride(2).groups(4)>(
            bulk, {{3, 128, 8, 9}, 128, "nhwc", "nhwc", "nhwc"});
        check_plain<fk::half, fk::filter(1, 2).groups(2)>(bulk, {{3, 128, 5, 6}, 128, "nhwc", "nhwc", "nchw"});
        check_plain<fk::half, fk::filter(3, 3).groups(2)>(bulk, {{1, 256, 5, 6}, 256, "nhwc", "nhwc", "nhwc"});
        check_plain<fk::half, fk::filter(1, 1)>(bulk, {{4, 116, 7, 9}, 58, "nhwc", "nhwc", "nhwc"});
        check_plain<fk::half, fk::filter(1, 1)>(bulk, {{8, 21, 11, 13}, 130, "nhwc", "nhwc", "nhwc"});
        check_plain<fk::half, fk::filter(1, 1)>(bulk, {{2, 64, 12, 11}, 2, "nhwc", "nhwc", "nhwc"});
        check_plain<fk::half, fk::filter(1, 1)>(bulk, {{32, 36, 1, 1}, 10, "nhwc", "nhwc", "nhwc"});
        check_plain<fk::half, fk::filter(1, 1)>(bulk, {{8, 20, 3, 3}, 24, "nhwc", "nhwc", "nhwc"});
    }
}

// Three CTAs per cluster, with one column block or several, and two clusters; a tail of channels, and a column of ones.
// Sums of the groups are added by the last one, then in sequence, then in sequence with the floats of two tiles for
// all. A run gets the workspace as the one before has left it.
TEMPLATE_TEST_CASE("HIP: weight gradients split over clusters agree with the oracle", "",
                   (BulkWeights<128, 128, 64, 6>), (BulkWeights<192, 128, 64, 5>), (BulkWeights<128, 64, 64, 8>),
                   (BulkWeights<64, 64, 128, 6>), (BulkWeights<256, 128, 32, 4, 2>), (BulkWeights<128, 192, 64, 5>)) {
    constexpr auto filter = fk::filter(1, 3).pad(0, 1);
    using Plan = fk::Plan<fk::ConvWeightGradient<filter>>;
    fk::hip::Device device = sm90a_device();
    oracle::Shape const in{5, 72, 13, 11}, out{5, 136, 13, 11};
    Filled<fk::half, fk::hip::Device, 4> x(device, "nhwc", in, integers(in.size(), -2, 3, 1)),
        dy(device, "nhwc", out, integers(out.size(), -3, 2, 2));
    auto const expected = oracle::weight_gradient({in, x.values}, {out, dy.values}, window_of(filter));
    std::vector<double> sums(static_cast<std::size_t>(out.c));
    oracle::Tensor const of_dy(out, dy.values);
    for (std::size_t i = 0; i < of_dy.at.size(); ++i) sums[of_dy.channel(i)] += of_dy.at[i].value;
    fk::Workspace<fk::hip::Memory> const workspace(device, std::size_t{1} << 23);
    for (int run = 0; run < (TestType::sequences ? 6 : 4); ++run) {
        Placed<fk::hip::Device, 4> dw(device, fk::DataType::float32, layout_of("nhwc", expected.shape), 64);
        Placed<fk::hip::Device, 1> db(device, fk::DataType::float32, fk::channels(out.c), 64);
        fk::hip::WeightGradientParams<Plan, fk::half, float> const params{
            Plan::bind({.dy = dy.view(), .bias_gradient = db.view<float>()}), x.view(), dw.view<float>()};
        unsigned const groups = run < 2 ? 2 : 3;
        auto const launch = fk::hip::launch_bulk_weight_gradient<TestType>(
            device.gpu(), params, {{}, run < 5 ? 3u : 1u, groups, run >= 2 && TestType::sequences, run < 4 ? 0u : 2u});
        REQUIRE(launch);
        REQUIRE(launch->workspace_bytes <= workspace.view().bytes);
        REQUIRE(!launch->start(device, x.view().data, dw.view<float>().data, workspace.view()));
        device.synchronize();
        CHECK(difference(expected, dw.fetch()) == "");
        for (std::int64_t k = 0; k < out.c; ++k) CHECK(db.fetch().get(k) == sums[static_cast<std::size_t>(k)]);
    }
}

// Square tiles of one tap, ordered along the channels of x or of y, whichever are fewer; with a column of ones.
TEMPLATE_TEST_CASE("HIP: weight gradients of tall and of wide dw agree with the oracle", "",
                   (BulkWeights<128, 128, 64, 6>), (BulkWeights<64, 64, 128, 6>)) {
    using Plan = fk::Plan<fk::ConvWeightGradient<fk::filter(1, 1)>>;
    fk::hip::Device device = sm90a_device();
    for (auto const& [c, k] : {std::pair(328, 72), std::pair(72, 328), std::pair(200, 8)}) {
        oracle::Shape const in{2, c, 13, 11}, out{2, k, 13, 11};
        Filled<fk::half, fk::hip::Device, 4> x(device, "nhwc", in, integers(in.size(), -2, 3, 1)),
            dy(device, "nhwc", out, integers(out.size(), -3, 2, 2));
        auto const expected = oracle::weight_gradient({in, x.values}, {out, dy.values}, window_of(fk::filter(1, 1)));
        std::vector<double> sums(static_cast<std::size_t>(out.c));
        oracle::Tensor const of_dy(out, dy.values);
        for (std::size_t i = 0; i < of_dy.at.size(); ++i) sums[of_dy.channel(i)] += of_dy.at[i].value;
        for (unsigned const cluster : {1u, 2u}) {
            CAPTURE(c, k, cluster);
            Placed<fk::hip::Device, 4> dw(device, fk::DataType::float32, layout_of("nhwc", expected.shape), 64);
            Placed<fk::hip::Device, 1> db(device, fk::DataType::float32, fk::channels(out.c), 64);
            fk::hip::WeightGradientParams<Plan, fk::half, float> const params{
                Plan::bind({.dy = dy.view(), .bias_gradient = db.view<float>()}), x.view(), dw.view<float>()};
            auto const launch = fk::hip::launch_bulk_weight_gradient<TestType>(device.gpu(), params, {{}, cluster, 1});
            REQUIRE(launch);
            REQUIRE(!launch->start(device, x.view().data, dw.view<float>().data, {}));
            device.synchronize();
            CHECK(difference(expected, dw.fetch()) == "");
            for (std::int64_t i = 0; i < out.c; ++i) CHECK(db.fetch().get(i) == sums[static_cast<std::size_t>(i)]);
        }
    }
}

// Tiles partly out of bounds; several taps in a tile; a column of ones in each column block; an operator.
TEMPLATE_TEST_CASE("HIP: weight gradients that are stored from registers agree with the oracle", "",
                   (BulkWeights<128, 128, 64, 6>), (BulkWeights<192, 128, 64, 5>), (BulkWeights<64, 64, 128, 6>)) {
    using Plan = fk::Plan<fk::ConvWeightGradient<fk::filter(3, 2).pad(1)>, fk::Scale>;
    fk::hip::Device device = sm90a_device();
    for (std::int64_t const channels : {8, 72, 136}) {
        oracle::Shape const in{3, channels, 5, 6}, out{3, 200, 5, 7};
        Filled<fk::half, fk::hip::Device, 4> x(device, "nhwc", in, integers(in.size(), -2, 3, 1)),
            dy(device, "nhwc", out, integers(out.size(), -3, 2, 2));
        oracle::Tensor expected =
            oracle::weight_gradient({in, x.values}, {out, dy.values}, window_of(fk::filter(3, 2).pad(1)));
        for (auto& each : expected.at) each.value *= 2;
        Placed<fk::hip::Device, 4> dw(device, fk::DataType::float16, layout_of("nhwc", expected.shape), 64);
        Placed<fk::hip::Device, 1> db(device, fk::DataType::float32, fk::channels(out.c), 64);
        fk::hip::WeightGradientParams<Plan, fk::half, fk::half> const params{
            Plan::bind({.dy = dy.view(), .bias_gradient = db.view<float>()}, {.factor = 2.0f}), x.view(),
            dw.view<fk::half>()};
        auto const launch = fk::hip::launch_bulk_weight_gradient<TestType>(device.gpu(), params, {{}, 1, 1});
        REQUIRE(launch);
        REQUIRE(launch->params.maps.stores_vectors);
        REQUIRE(!launch->start(device, x.view().data, dw.view<fk::half>().data, {}));
        device.synchronize();
        CHECK(difference(expected, dw.fetch()) == "");
        oracle::Tensor const of_dy(out, dy.values);
        std::vector<double> sums(static_cast<std::size_t>(out.c));
        for (std::size_t i = 0; i < of_dy.at.size(); ++i) sums[of_dy.channel(i)] += of_dy.at[i].value;
        for (std::int64_t k = 0; k < out.c; ++k) CHECK(db.fetch().get(k) == sums[static_cast<std::size_t>(k)]);
    }
}

TEST_CASE("HIP: a weight gradient's pixels are split until tiles fill the processors") {
    using fk::hip::share_pixels, fk::hip::WeightProduct;
    constexpr std::size_t tile = 128 * 128 * 4, states = fk::hip::GroupWorkspace::state_bytes;
    auto const parts = [](WeightProduct const& of, std::size_t workspace_bytes, unsigned max_cluster = 8) {
        auto const chosen = share_pixels<BulkWeights<128, 128, 64, 6>>(of, {132, max_cluster, workspace_bytes}, costs);
        return std::pair(chosen.split_k.cluster, chosen.split_k.groups);
    };
    CHECK(parts({128 * 132, 2, 12800, false}, states + 1000 * tile) == std::pair(1u, 1u));
    CHECK(parts({512, 18, 12544, true}, 0) == std::pair(3u, 1u));
    CHECK(parts({64, 9, 193664, true}, 0) == std::pair(8u, 1u));
    CHECK(parts({64, 9, 193664, true}, states + 15 * tile) == std::pair(8u, 3u));
    CHECK(parts({64, 9, 193664, true}, states + 15 * tile, 1) == std::pair(1u, 3u));
    CHECK(parts({128, 2, 256, false}, states + 15 * tile) == std::pair(1u, 1u));
}

TEST_CASE("HIP: CTAs add in sequence where the workspace does not hold all sums") {
    constexpr std::size_t tile = 192 * 128 * 4, states = fk::hip::GroupWorkspace::state_bytes;
    fk::hip::WeightProduct const of{192, 9, 193664, true};  // five tiles
    auto const sharing = [&](std::size_t workspace_bytes) {
        return fk::hip::share_pixels<BulkWeights<192, 128, 64, 5>>(of, {132, 1, workspace_bytes}, costs).split_k;
    };
    auto const of_few = sharing(states + 5 * tile), of_all = sharing(states + 132 * tile);
    CHECK(of_few.in_sequence);
    CHECK(of_few.held_tiles == 0);
    CHECK(of_few.groups > 3);
    CHECK(5 * of_few.groups <= 132);
    CHECK(!of_all.in_sequence);
    CHECK(of_all.groups > of_few.groups);
    // with room for three of the five tiles: two batches of tiles, of three and two
    auto const of_batches = sharing(states + 4 * tile);
    CHECK(of_batches.in_sequence);
    CHECK(of_batches.held_tiles == 3);
    CHECK(of_batches.groups * 3 <= 132);
    CHECK(of_batches.stored_tiles(5) == 3);
}

// 256-200-200-128 and 128-280-280-128, 3x3, batch 32: the fastest on an H200
// (bench/results/h200/weight_gradient_choices.txt)
TEST_CASE("HIP: CTAs of a weight gradient whose operands exceed L2 are single, and all resident") {
    auto const sharing = [](fk::hip::WeightProduct const& of) {
        return fk::hip::share_pixels<BulkWeights<128, 192, 64, 5>>(of, {132, 8, std::size_t{1} << 20}, costs).split_k;
    };
    auto const wide = sharing({128, 36, 32 * 198 * 198, true, std::int64_t{976} << 20}),
               narrow = sharing({128, 18, 32 * 278 * 278, true, std::int64_t{1200} << 20});
    CHECK(wide.cluster == 1);
    CHECK(wide.groups == 11);
    CHECK(wide.held_tiles == 6);
    CHECK(narrow.cluster == 1);
    CHECK(narrow.groups == 22);
    CHECK(narrow.in_sequence);
}

TEST_CASE("HIP: an unpromoted weight gradient tile has no more pixels than its error bound allows") {
    using Tile = BulkWeights<256, 128, 32, 4, 2>;
    static_assert(!Tile::promotes && BulkWeights<192, 128, 64, 5>::promotes && BulkWeights<128, 192, 64, 5>::promotes);
    fk::hip::WeightProduct const large{128 * 132, 4, 100000, false};
    CHECK(fk::hip::share_pixels<Tile>(large, {132, 1, 0}, costs).cycles > 1e200);
    auto const shared = fk::hip::share_pixels<Tile>(large, {132, 8, std::size_t{1} << 30}, costs);
    CHECK(shared.split_k.count() * Tile::unpromoted_pixels >= 100000);
}
