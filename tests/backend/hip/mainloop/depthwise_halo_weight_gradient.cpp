// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/depthwise_halo_weight_gradient.hpp"

#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "backend/hip/one_gradient.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "support/weight_gradients.hpp"

using namespace test;

namespace {

struct HaloGradient {
    static auto prepare(auto const&... arguments) {
        return fk::hip::detail::prepare_depthwise_halo_gradient(arguments...);
    }
};

/// Checks a depthwise weight gradient by DepthwiseHaloWeightGradient; if `is_other`, that it does not compute this one,
/// and checks the gradient by the kernels of depthwise convolutions.
template <class T, auto filter, bool Accumulates = false, bool is_other = false>
void check(fk::hip::Device& device, oracle::Shape const& shape, char const* x_layout = "nhwc",
           char const* dw_layout = "nhwc") {
    using Plan = fk::Plan<fk::ConvWeightGradient<filter>>;
    using X = XOf<T>;
    static_assert(fk::hip::has_depthwise_halo_weight_gradient<Plan, X> &&
                  fk::hip::has_depthwise_weight_gradient<Plan, X>);
    auto const x = fk::Tensor<X, fk::hip::Device>(device, layout_of(x_layout, shape));
    oracle::Shape const out{shape.n, filter.group_count, filter.output(0, shape.h), filter.output(1, shape.w)};
    auto const dy = fk::Tensor<X, fk::hip::Device>(device, layout_of("nhwc", out));
    auto dw = fk::Tensor<X, fk::hip::Device>(device, fk::krsc(out.c, filter.size[0], filter.size[1], 1));
    fk::hip::WeightGradientParams<Plan, X, X> const params{Plan::bind({.dy = dy}), x.const_view(), dw.view()};
    auto const launch =
        fk::hip::detail::prepare_depthwise_halo_gradient(device.gpu(), params, fk::hip::max_workspace_bytes);
    CHECK(static_cast<bool>(launch) == !is_other);
    OneGradient<std::conditional_t<is_other, DepthwiseGradient, HaloGradient>> depthwise(device);
    check_weight_gradient<T, filter, Accumulates>(depthwise, {shape, out.c, x_layout, "nhwc", dw_layout});
}

}  // namespace

// Partial units of channels; several items per image, with partial ones; a slice of channels of x.
TEMPLATE_TEST_CASE("HIP: depthwise weight gradients from SMEM are exact", "", fk::half, (Types<fk::bfloat16, float>)) {
    fk::hip::Device device = sm90a_device();
    check<TestType, fk::filter(4, 5).pad(2).groups(8), true>(device, {2, 8, 9, 16});
    check<TestType, fk::filter(5, 5).pad(1).groups(40)>(device, {1, 40, 67, 41}, "nhwc", "nchw");
    check<TestType, fk::filter(5, 5).pad(2).groups(72)>(device, {3, 72, 13, 11});
    check<TestType, fk::filter(7, 7).pad(3).groups(32)>(device, {2, 32, 37, 29});
    check<TestType, fk::filter(7, 7).pad(3).groups(16)>(device, {2, 16, 7, 7}, "nhwc+8");
    check<TestType, fk::filter(3, 3).pad(1).groups(40), true>(device, {5, 40, 7, 6});
    check<TestType, fk::filter(3, 3).pad(1).groups(16)>(device, {2, 16, 34, 31});
    check<TestType, fk::filter(3, 3).pad(1).stride(2).groups(72)>(device, {3, 72, 15, 13});
}

TEST_CASE("HIP: depthwise weight gradients from SMEM are exact for filters, strides and paddings of many sizes") {
    fk::hip::Device device = sm90a_device();
    check<fk::half, fk::filter(5, 5).pad(1).stride(2).groups(24)>(device, {2, 24, 31, 18});
    check<fk::half, fk::filter(3, 3).pad(0, 1).stride(3).groups(16)>(device, {3, 16, 20, 11});
    check<fk::half, fk::filter(2, 3).pad(1).groups(16)>(device, {70, 16, 3, 4});
    check<fk::half, fk::filter(3, 4).pad(2).dilation(2, 1).groups(16)>(device, {2, 16, 9, 65});
    OneGradient<HaloGradient> halo(device);
    check_weight_gradient<fk::half, fk::filter(5).pad(2).groups(18)>(halo, {{2, 18, 1, 83}, 18, "nwc", "nwc", "nwc"});
    check<fk::half, fk::filter(5, 5).pad(2).stride(3).groups(8)>(device, {2, 8, 25, 23});
    check<fk::half, fk::filter(6, 4).pad(1).stride(4).groups(8)>(device, {1, 8, 41, 38});
    check<fk::half, fk::filter(4, 5).pad(7, 2).dilation(3, 1).stride(2, 1).groups(8)>(device, {1, 8, 6, 9});
    check<fk::half, fk::filter(3, 7).pad(0, 9).groups(8)>(device, {1, 8, 4, 6});
    check<fk::half, fk::filter(7, 3).pad(3, 0).groups(8)>(device, {2, 8, 5, 3});
    check<fk::half, fk::filter(5, 5).pad(2).groups(12)>(device, {1, 12, 5, 6});  // no vectors of 8 channels
    check<fk::half, fk::filter(3, 3).pad(1).groups(58)>(device, {2, 58, 9, 6});
    check<fk::half, fk::filter(3, 3).pad(1).stride(2).groups(24)>(device, {2, 24, 9, 6}, "nhwc+2");
    check<fk::half, fk::filter(3, 3).pad(1).groups(17), false, true>(device, {2, 17, 9, 6});  // no pairs of channels
    check<fk::half, fk::filter(3, 3).pad(1).groups(14), false, true>(device, {2, 14, 9, 6});  // few channels
    check<fk::half, fk::filter(5, 5).pad(2).groups(8), false, true>(device, {1, 8, 5, 6}, "nchw");
    check<fk::half, fk::filter(5, 5).pad(2).groups(8)>(device, {1, 8, 12, 2000});
}

TEST_CASE("HIP: an infinity reaches only the depthwise weight gradients from SMEM that multiply it") {
    fk::hip::Device device = sm90a_device();
    OneGradient<HaloGradient> halo(device);
    constexpr int c = 16, h = 9, w = 10, at_c = 3;
    auto const check_infinities = [&]<int r>(std::integral_constant<int, r>) {
        constexpr auto filter = fk::filter(r, r).pad(r / 2).groups(c);
        auto const infinity = fk::half(std::numeric_limits<float>::infinity());
        for (bool const in_dy : {true, false})
            for (auto const& [at_h, at_w] : {std::array{4, 5}, std::array{h - 1, w - 1}, std::array{0, 0}}) {
                auto const layout = fk::nhwc(1, h, w, c);
                fk::Tensor<fk::half, fk::hip::Device> x(device, layout), dy(device, layout);
                std::vector<fk::half> ones(c * h * w, fk::half(1.0f)), values = ones;
                values[static_cast<std::size_t>(layout.offset({{0, at_c, at_h, at_w}}))] = infinity;
                x.copy_from((in_dy ? ones : values).data()), dy.copy_from((in_dy ? values : ones).data());
                auto const dw = fk::Plan<fk::ConvWeightGradient<filter>>::bind({.dy = dy})(halo, x);
                std::vector<fk::half> got(c * r * r);
                dw.copy_to(got.data());
                int wrong = 0;
                for (int k = 0; k < c; ++k)
                    for (int i = 0; i < r; ++i)
                        for (int j = 0; j < r; ++j) {
                            // index, in the other tensor, of the element that is multiplied by the infinity at this tap
                            int const p = in_dy ? at_h + i - r / 2 : at_h - i + r / 2,
                                      q = in_dy ? at_w + j - r / 2 : at_w - j + r / 2;
                            bool const inside = p >= 0 && p < h && q >= 0 && q < w;
                            float const value = got[static_cast<std::size_t>(dw.layout().offset({{k, 0, i, j}}))];
                            if (k != at_c) wrong += !std::isfinite(value);
                            else if (inside) wrong += !(value > 0 && std::isinf(value));
                            else wrong += in_dy ? !std::isnan(value) : !std::isfinite(value);  // padding's zeros
                        }
                CHECK(wrong == 0);
            }
    };
    check_infinities(std::integral_constant<int, 5>{});
    check_infinities(std::integral_constant<int, 3>{});
}

TEST_CASE("HIP: tiles of a depthwise weight gradient fit SMEM, and half warps read different banks") {
    using Tiles = fk::hip::DepthwiseHaloGradientTiles;
    auto const check_tiles = [](auto shape, int taps) {
        using Shape = decltype(shape);
        for (int const stride : {1, 2, 3})
            for (int const size : {7, 14, 30, 56, 112, 1000}) {
                fk::Filter<2> filter{{taps, taps}, {3, 3}, {3, 3}, {stride, stride}, {1, 1}, 64};
                auto const choice = fk::hip::detail::choose_halo_gradient<Shape>(
                    filter, {{32, 64, size, size}}, 16, {132, 8, fk::hip::max_workspace_bytes, 6400});
                Tiles const& tiles = choice.tiles;
                REQUIRE(tiles.items > 0);
                CHECK(tiles.of_x.rows == (tiles.rows - 1) * stride + taps);
                CHECK(choice.shared_bytes() <= Tiles::max_shared_bytes);
                CHECK(stride * tiles.of_x.row_bytes % 128 == 64);
                CHECK(tiles.of_dy.row_bytes % 128 == 64);
                CHECK(tiles.of_x.row_bytes % 16 == 0);
                CHECK(tiles.segments / (tiles.images * tiles.rows) * tiles.segment >= tiles.columns);
            }
    };
    check_tiles(fk::hip::DepthwiseHaloGradientShape<7, 7>{}, 7);
    check_tiles(fk::hip::DepthwiseHaloGradientShape<3, 3>{}, 3);
}
