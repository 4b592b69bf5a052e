// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/depthwise_weight_gradient.hpp"

#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "backend/hip/gpu.hpp"
#include "backend/hip/one_gradient.hpp"
#include "support/half_types.hpp"
#include "support/weight_gradients.hpp"

using namespace test;

namespace {

/// Checks a depthwise weight gradient of C channels in each order of x and dy, by the kernels of depthwise convolutions
/// if the program has them; float also accumulates with the kernel that the library selects.
template <class T, auto filter, bool Accumulates = false>
void check(fk::hip::Device& device, oracle::Shape const& x, std::int64_t k) {
    constexpr bool has_kernel =
        fk::hip::has_depthwise_weight_gradient<fk::Plan<fk::ConvWeightGradient<filter>>, XOf<T>>;
    static_assert(has_kernel || fk::hip::arch::is_targeted<fk::hip::arch::Amd>);
    static constexpr char const* layouts[][3] = {{"nhwc", "nhwc", "nhwc"},     {"nchw", "nchw", "nchw"},
                                                 {"nhwc+1", "nhwc", "nchw"},   {"nchw+1", "nchw*2-hw", "nchw"},
                                                 {"nchw", "nhwc+3", "nchw*2"}, {"nhwc", "nchw", "nhwc"}};
    for (auto const& [of_x, of_dy, of_dw] : layouts)
        if constexpr (has_kernel && !(Accumulates && std::is_same_v<T, float>)) {
            OneGradient<DepthwiseGradient> depthwise(device);
            check_weight_gradient<T, filter, Accumulates>(depthwise, {x, k, of_x, of_dy, of_dw});
        } else {
            check_weight_gradient<T, filter, Accumulates>(device, {x, k, of_x, of_dy, of_dw});
        }
}

using Elements = AndBfloat16<float, Types<fk::half, float>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("HIP: depthwise weight gradients are exact in every layout", "", Elements) {
    fk::hip::Device device = gpu();
    check<TestType, fk::filter(3, 3).pad(1).groups(6), true>(device, {2, 6, 9, 16}, 6);
    check<TestType, fk::filter(3, 3).pad(1).stride(2).groups(7)>(device, {5, 7, 9, 17}, 7);
    check<TestType, fk::filter(5, 5).pad(2).groups(3)>(device, {1, 3, 12, 24}, 3);
    check<TestType, fk::filter(3, 3).pad(2).dilation(2).groups(4)>(device, {2, 4, 11, 16}, 4);
    check<TestType, fk::filter(3, 3).pad(1).groups(3)>(device, {2, 3, 7, 8}, 6);  // two filters a channel
}

TEST_CASE("HIP: depthwise weight gradients are exact for filters, strides and paddings of many sizes") {
    fk::hip::Device device = gpu();
    check<float, fk::filter(1, 1).groups(96)>(device, {1, 96, 4, 5}, 96);
    check<float, fk::filter(1, 1).pad(2, 1).stride(3, 2).groups(3)>(device, {2, 3, 7, 10}, 3);
    check<fk::bfloat16, fk::filter(2, 2).stride(3).groups(116)>(device, {1, 116, 8, 9}, 116);
    check<fk::bfloat16, fk::filter(7, 7).pad(3).groups(35)>(device, {2, 35, 9, 11}, 35);
    check<fk::bfloat16, fk::filter(7, 7).pad(3).stride(2).groups(2)>(device, {1, 2, 23, 16}, 2);
    check<float, fk::filter(5, 3).pad(9, 8).stride(3, 1).groups(3)>(device, {1, 3, 7, 25},
                                                                    3);  // more padding than taps
    check<float, fk::filter(3, 5).pad(0, 40).groups(2)>(device, {1, 2, 4, 6}, 2);
    check<float, fk::filter(2, 3).pad(5, 1).dilation(3, 2).stride(2, 1).groups(3)>(device, {1, 3, 6, 8}, 3);
    check_weight_gradient<float, fk::filter(5).pad(2).groups(4)>(device, {{2, 4, 1, 33}, 4, "ncw", "nwc", "ncw"});
    check_weight_gradient<float, fk::filter(9, 9).pad(4).groups(2)>(device,
                                                                    {{1, 2, 11, 12}, 2, "nhwc", "nhwc", "nchw"});
    check_weight_gradient<float, fk::filter(3, 3).groups(2)>(device, {{2, 4, 5, 6}, 4, "nhwc", "nhwc", "nchw"});
}

TEST_CASE("HIP: a depthwise gradient of a bias is computed without weight gradients") {
    fk::hip::Device device = gpu();
    auto const x = fk::random<float>(device, fk::nhwc(1, 3, 3, 2));
    auto const dy =
        fk::tensor<float>(device, fk::nchw(1, 2, 3, 3), {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1, 1, 1, 1, 1, 1, 2});
    fk::Tensor<float, fk::hip::Device, 1> db(device, fk::channels(2));
    fk::Plan<fk::ConvWeightGradient<fk::filter(1, 1).groups(2)>>::bind({.dy = dy, .bias_gradient = db})(device, x,
                                                                                                        fk::no_output);
    float sums[2];
    db.copy_to(sums);
    CHECK(sums[0] == 45);
    CHECK(sums[1] == 10);
}

TEST_CASE("HIP: an infinity reaches only the depthwise weight gradients that multiply it") {
    fk::hip::Device device = gpu();
    constexpr int c = 6, h = 9, w = 10, r = 3, at_c = 3;
    constexpr auto filter = fk::filter(r, r).pad(1).groups(c);
    float const infinity = std::numeric_limits<float>::infinity();
    for (bool const last : {true, false})
        for (bool const in_dy : {true, false})
            for (auto const& [at_h, at_w] : {std::array{4, 5}, std::array{h - 1, w - 1}, std::array{0, 0}}) {
                auto const layout = last ? fk::nhwc(1, h, w, c) : fk::nchw(1, c, h, w);
                fk::Tensor<float, fk::hip::Device> x(device, layout), dy(device, layout);
                std::vector<float> ones(c * h * w, 1.0f), values = ones;
                values[static_cast<std::size_t>(layout.offset({{0, at_c, at_h, at_w}}))] = infinity;
                x.copy_from((in_dy ? ones : values).data()), dy.copy_from((in_dy ? values : ones).data());
                auto const dw = fk::Plan<fk::ConvWeightGradient<filter>>::bind({.dy = dy})(device, x);
                std::vector<float> got(c * r * r);
                dw.copy_to(got.data());
                int wrong = 0;
                for (int k = 0; k < c; ++k)
                    for (int i = 0; i < r; ++i)
                        for (int j = 0; j < r; ++j) {
                            // index, in the other tensor, of the element that is multiplied by the infinity at this tap
                            int const p = in_dy ? at_h + i - 1 : at_h - i + 1, q = in_dy ? at_w + j - 1 : at_w - j + 1;
                            bool const inside = p >= 0 && p < h && q >= 0 && q < w;
                            float const value = got[static_cast<std::size_t>(dw.layout().offset({{k, 0, i, j}}))];
                            if (k != at_c) wrong += !std::isfinite(value);
                            else if (inside) wrong += value != infinity;
                            else wrong += in_dy ? !std::isnan(value) : !std::isfinite(value);  // padding's zeros
                        }
                CHECK(wrong == 0);
            }
}

TEST_CASE("HIP: CTAs divide the pixels of a depthwise weight gradient, bitwise identical in every run") {
    constexpr auto filter = fk::filter(3, 3).pad(1).groups(5);
    using Layer = fk::Plan<fk::ConvWeightGradient<filter>>;
    fk::hip::Device device = gpu();
    oracle::Shape const shape{7, 5, 61, 33};
    for (char const* layout : {"nhwc", "nchw"}) {
        Filled<float, fk::hip::Device, 4> x(device, layout, shape, integers(shape.size(), -2, 3, 1)),
            dy(device, layout, shape, integers(shape.size(), -3, 2, 2));
        auto const layer = Layer::bind({.dy = dy.view()});
        auto const expected = oracle::weight_gradient({shape, x.values}, {shape, dy.values}, window_of(filter));
        for (std::size_t const bytes : {std::size_t{0}, std::size_t{1} << 16, fk::hip::max_workspace_bytes}) {
            fk::Workspace<fk::hip::Memory> own(device, bytes ? bytes : 64);
            fk::hip::Stream const stream(device, nullptr, bytes ? own.view() : fk::WorkspaceView{});
            for (int run = 0; run < 2; ++run) {  // counters are reset
                Placed<fk::hip::Device, 4> dw(device, fk::DataType::float32, layout_of("nchw", expected.shape), 64);
                layer(stream, x.view(), dw.view<float>());
                CHECK(difference(expected, dw.fetch()) == "");
            }
        }
    }
    auto const a = fk::random<float>(device, fk::nhwc(3, 63, 65, 5), 1),
               b = fk::random<float>(device, fk::nhwc(3, 63, 65, 5), 2);
    auto const random = Layer::bind({.dy = b});
    auto const bits = [&] { return numbers(random(device, a)); };
    auto const first = bits();
    for (int i = 0; i < 2; ++i) CHECK(std::memcmp(first.data(), bits().data(), first.size() * sizeof(float)) == 0);
}

TEST_CASE("HIP: errors of depthwise weight gradients are those of sums over an item and its threads") {
    constexpr auto filter = fk::filter(3, 3).pad(1).groups(3);
    constexpr int n = 5, c = 3, hw = 67;
    // additions to a sum: 64 rows of 8 columns of an item, 32 items of a thread, 2^8 threads, 8 CTAs and 8 groups
    constexpr double additions = 64 * 8 + 32 + 8 + 16, unit = 0x1p-24;
    fk::hip::Device device = gpu();
    for (bool const last : {true, false}) {
        auto const layout = last ? fk::nhwc(n, hw, hw, c) : fk::nchw(n, c, hw, hw);
        auto const x = fk::random<float>(device, layout, 1), dy = fk::random<float>(device, layout, 2);
        std::vector<float> const of_x = numbers(x), of_dy = numbers(dy),
                                 got = numbers(fk::Plan<fk::ConvWeightGradient<filter>>::bind({.dy = dy})(device, x));
        int wrong = 0;
        for (int k = 0; k < c; ++k)
            for (int tap = 0; tap < 9; ++tap) {
                double sum = 0, magnitude = 0;
                for (int i = 0; i < n; ++i)
                    for (int p = 0; p < hw; ++p)
                        for (int q = 0; q < hw; ++q) {
                            int const h = p + tap / 3 - 1, w = q + tap % 3 - 1;
                            if (h < 0 || h >= hw || w < 0 || w >= hw) continue;
                            double const product =
                                double{of_x[static_cast<std::size_t>(layout.offset({{i, k, h, w}}))]} *
                                double{of_dy[static_cast<std::size_t>(layout.offset({{i, k, p, q}}))]};
                            sum += product, magnitude += std::fabs(product);
                        }
                // dw is dense, and K x 1 x R x S has the same order in memory channels-last or not
                wrong += !(std::fabs(got[static_cast<std::size_t>(k * 9 + tap)] - sum) <= additions * unit * magnitude);
            }
        CHECK(wrong == 0);
    }
}
