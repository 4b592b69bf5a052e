// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/stem_weight_gradient.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "backend/hip/one_gradient.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "support/weight_gradients.hpp"

using namespace test;

namespace {

/// True if the library selects StemWeightGradient for the gradient of x, n x c x h x w, and k channels of dy.
template <auto filter>
bool selects(fk::hip::Device& device, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w, std::int64_t k) {
    using Plan = fk::Plan<fk::ConvWeightGradient<filter>>;
    using Mainloop = fk::hip::StemWeightGradient<Plan, fk::half, fk::half>;
    fk::Tensor<fk::half, fk::hip::Device> x(device, fk::nhwc(n, h, w, c)),
        dy(device, fk::nhwc(n, filter.output(0, h), filter.output(1, w), k)),
        dw(device, fk::krsc(k, filter.size[0], filter.size[1], c));
    auto const launch =
        device.prepare(Plan::bind({.dy = dy}), Plan::collapse(x.const_view()), Plan::collapse(dw.view())).value();
    return launch.kernel == fk::hip::kernel_of<Plan, Mainloop>().function;
}

}  // namespace

// Windows that begin between multiples of 16 bytes; rows of dy that end within a k-tile; columns of several
// warpgroups and tiles; channels of y that fill neither a k-tile nor a tile; ranges of pixels that are promoted. The
// library selects the kernel of the first case.
TEMPLATE_TEST_CASE("HIP: weight gradients of first layers agree with the oracle", "", fk::half,
                   (Types<fk::bfloat16, float>)) {
    fk::hip::Device device = sm90a_device();
    OneGradient<StemGradient> stem(device);
    check_weight_gradient<TestType, fk::filter(7, 7).pad(3).stride(2)>(device,
                                                                       {{2, 3, 24, 72}, 72, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<TestType, fk::filter(3, 3).pad(1).stride(2)>(stem,
                                                                       {{3, 3, 13, 40}, 32, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<TestType, fk::filter(11, 11).pad(2).stride(4)>(stem,
                                                                         {{2, 3, 43, 48}, 8, "nhwc", "nhwc", "nchw"});
    check_weight_gradient<TestType, fk::filter(4, 4).stride(4)>(stem, {{2, 3, 20, 32}, 96, "nhwc", "nhwc", "nhwc"});
}

// Rows of x of 2, 4 and 8 bytes' alignment; padding on all sides, so that windows
// read memory of other rows, which is masked.
TEST_CASE("HIP: weight gradients of first layers with rows of any alignment agree with the oracle") {
    fk::hip::Device device = sm90a_device();
    OneGradient<StemGradient> stem(device);
    check_weight_gradient<fk::half, fk::filter(3, 3).stride(2)>(stem, {{2, 3, 11, 37}, 32, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<fk::half, fk::filter(3, 3).pad(1)>(stem, {{2, 3, 7, 71}, 24, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<fk::half, fk::filter(5, 4).pad(2, 0, 1, 3).stride(1, 3)>(
        stem, {{3, 2, 6, 33}, 8, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<fk::half, fk::filter(7, 7).pad(3).stride(2)>(stem,
                                                                       {{2, 1, 9, 130}, 8, "nhwc", "nhwc", "nhwc"});
}

TEST_CASE("HIP: weight gradients of 1 to 7 channels agree with the oracle") {
    fk::hip::Device device = sm90a_device();
    OneGradient<StemGradient> stem(device);
    check_weight_gradient<fk::half, fk::filter(3, 3).pad(1)>(stem, {{1, 1, 9, 136}, 16, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<fk::half, fk::filter(2, 5).pad(0, 3, 1, 1)>(stem,
                                                                      {{2, 2, 7, 20}, 24, "nhwc", "nhwc+8", "nhwc"});
    // TMA cannot load windows of a slice of channels as rows: another kernel computes these.
    check_weight_gradient<fk::half, fk::filter(5, 3).pad(2, 1).stride(1, 3)>(
        device, {{2, 5, 6, 16}, 40, "nhwc+8", "nhwc", "nchw*2"});
    check_weight_gradient<fk::half, fk::filter(3, 3).pad(2).stride(3)>(stem, {{9, 7, 8, 8}, 8, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<fk::half, fk::filter(5).pad(2).stride(2)>(stem, {{2, 4, 1, 402}, 16, "nwc", "nwc", "nwc"});
}

TEST_CASE("HIP: the library selects the kernel of first layers where TMA cannot load channels of x") {
    fk::hip::Device device = sm90a_device();
    CHECK(selects<fk::filter(7, 7).pad(3).stride(2)>(device, 1, 3, 24, 72, 64));
    // with many SMs another kernel is faster on these few pixels
    bool const has_few_processors = device.gpu().processors() == 4;
    CHECK(selects<fk::filter(3, 3).pad(1)>(device, 1, 4, 8, 10, 16) == has_few_processors);
    CHECK(selects<fk::filter(3, 3).pad(1)>(device, 1, 3, 8, 9, 16) == has_few_processors);  // rows of x of 54 bytes
    CHECK_FALSE(selects<fk::filter(3, 3).pad(1)>(device, 1, 8, 8, 8, 16));
    CHECK_FALSE(selects<fk::filter(3, 3).pad(1).dilation(2)>(device, 1, 4, 8, 10, 16));
    CHECK_FALSE(selects<fk::filter(3, 3).pad(1)>(device, 1, 4, 8, 10, 12));
    using OneTap = fk::Plan<fk::ConvWeightGradient<fk::filter(1, 1)>>;
    static_assert(!fk::hip::has_stem_weight_gradient<OneTap, fk::half>);
    using Volumes = fk::Plan<fk::ConvWeightGradient<fk::filter(3, 3, 3)>>;
    static_assert(!fk::hip::has_stem_weight_gradient<Volumes, fk::half>);
}

// Elements of x that windows past the end of a row of dy would read are not multiplied.
TEST_CASE("HIP: an infinity of x that no window reads does not reach the weight gradient of a first layer") {
    fk::hip::Device device = sm90a_device();
    constexpr auto filter = fk::filter(2, 2).stride(3);
    constexpr std::int64_t q = 6, w = 18, held = 24, h = 2;  // windows read 17 columns
    static_assert(filter.output(1, w) == q);
    fk::Tensor<fk::half, fk::hip::Device> memory(device, fk::nhwc(1, h, held, 2)), dy(device, fk::nhwc(1, 1, q, 8)),
        dw(device, fk::krsc(8, 2, 2, 2));
    std::vector<fk::half> values(static_cast<std::size_t>(memory.size()),
                                 fk::half(std::numeric_limits<float>::infinity())),
        ones(static_cast<std::size_t>(dy.size()), fk::half(1.0f)), got(static_cast<std::size_t>(dw.size()));
    for (std::int64_t row = 0; row < h; ++row)
        for (std::int64_t i = 0; i < 17 * 2; ++i) values[static_cast<std::size_t>(row * held * 2 + i)] = fk::half(1.0f);
    memory.copy_from(values.data()), dy.copy_from(ones.data());
    fk::TensorView<fk::half const> x = memory.const_view();
    x.layout.shape[3] = w;
    fk::Plan<fk::ConvWeightGradient<filter>>::bind({.dy = dy})(OneGradient<StemGradient>(device), x, dw.view());
    device.synchronize();
    dw.copy_to(got.data());
    for (fk::half const each : got) CHECK(static_cast<float>(each) == 6.0f);
}
