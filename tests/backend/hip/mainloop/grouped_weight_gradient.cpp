// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/grouped_weight_gradient.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "backend/hip/gpu.hpp"
#include "backend/hip/one_gradient.hpp"
#include "support/half_types.hpp"
#include "support/weight_gradients.hpp"

using namespace test;

namespace {

/// Checks a gradient by GroupedWeightGradient. If `accumulates`, checks that the library selects this kernel where the
/// GPU has mma.sync, and on sm_90a only if tiles of BulkWeightGradient would not be full, and runs what it selects.
template <class T, auto filter, bool accumulates = false>
void check(fk::hip::Device& device, oracle::Shape const& x, char const* of_dw = "krsc") {
    using X = XOf<T>;
    using Plan = fk::Plan<fk::ConvWeightGradient<filter>>;
    static_assert(fk::hip::has_grouped_weight_gradient<Plan, X>);
    GradientCase const about{x, x.c, "nhwc", "nhwc+8", of_dw};
    bool const has_mma = fk::hip::GroupedEntry::runs_on(device.architecture());
    if constexpr (accumulates) {
        fk::Tensor<X, fk::hip::Device> in(device, fk::nhwc(x.n, x.h, x.w, x.c)),
            dy(device, fk::nhwc(x.n, filter.output(0, x.h), filter.output(1, x.w), x.c)),
            dw(device, fk::krsc(x.c, filter.size[0], filter.size[1], x.c / filter.group_count));
        auto const launch =
            device.prepare(Plan::bind({.dy = dy}), Plan::collapse(in.const_view()), Plan::collapse(dw.view())).value();
        using Mainloop = fk::hip::GroupedWeightGradient<Plan, X, X>;
        CHECK((launch.kernel == fk::hip::kernel_of<Plan, Mainloop>().function) ==
              (has_mma && (device.architecture() != fk::hip::Architecture::sm(90) || x.c < fk::hip::weight_block)));
        check_weight_gradient<T, filter>(device, about);
    } else if (has_mma) {
        OneGradient<GroupedGradient> grouped(device);
        check_weight_gradient<T, filter, false>(grouped, about);
    }
}

using Elements = AndBfloat16<fk::half, Types<fk::half, float>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("HIP: grouped weight gradients are exact for groups of 4, 8, 16 and 32 channels", "",
                        Elements) {
    fk::hip::Device device = gpu();
    check<TestType, fk::filter(3, 3).pad(1).groups(6), std::is_same_v<TestType, fk::half>>(device, {2, 24, 9, 11});
    check<TestType, fk::filter(3, 3).pad(1).groups(5)>(device, {3, 40, 8, 19}, "kcrs");
    check<TestType, fk::filter(3, 3).pad(1).groups(9)>(device, {1, 144, 5, 7});
    check<TestType, fk::filter(3, 3).pad(1).groups(2)>(device, {2, 64, 7, 6}, "kcrs");
}

TEST_CASE("HIP: grouped weight gradients are exact for filters, strides and paddings of many sizes") {
    fk::hip::Device device = gpu();
    check<fk::half, fk::filter(3, 3).pad(1).stride(2).groups(8), true>(device, {2, 32, 13, 20});
    check<fk::half, fk::filter(3, 3).pad(1).stride(2).groups(2)>(device, {5, 64, 9, 8});
    check<fk::half, fk::filter(1, 1).groups(4)>(device, {1, 64, 6, 70});
    check<fk::half, fk::filter(1, 1).stride(2, 3).groups(3)>(device, {2, 48, 6, 10});
    check<fk::bfloat16, fk::filter(5, 5).pad(2).groups(4)>(device, {1, 32, 40, 9});
    check<fk::half, fk::filter(2, 4).pad(3, 0, 1, 5).dilation(2, 1).stride(1, 2).groups(4)>(device, {1, 32, 7, 13});
}

TEST_CASE("HIP: grouped weight gradients add the items of many images") {
    fk::hip::Device device = gpu();
    check<fk::half, fk::filter(3, 3).pad(1).groups(8)>(device, {301, 32, 5, 3});
}

TEST_CASE("HIP: an infinity of x reaches only the grouped weight gradients that multiply it") {
    fk::hip::Device device = gpu();
    // tiles of dy may have columns past its last one, whose windows have the last columns of x
    constexpr auto filter = fk::filter(3, 3).groups(4);
    constexpr int c = 16, h = 6, w = 11, at_c = 5, at_h = 2, p = h - 2, q = w - 2;
    fk::Tensor<fk::half, fk::hip::Device> x(device, fk::nhwc(1, h, w, c)), dy(device, fk::nhwc(1, p, q, c)),
        dw(device, fk::krsc(c, 3, 3, 4));
    std::vector<fk::half> ones(static_cast<std::size_t>(dy.size()), fk::half(1.0f)),
        values(static_cast<std::size_t>(x.size()), fk::half(1.0f)), got(static_cast<std::size_t>(dw.size()));
    values[static_cast<std::size_t>(x.layout().offset({{0, at_c, at_h, w - 1}}))] =
        fk::half(std::numeric_limits<float>::infinity());
    x.copy_from(values.data()), dy.copy_from(ones.data());
    fk::Plan<fk::ConvWeightGradient<filter>>::bind({.dy = dy})(device, x.const_view(), dw.view());
    dw.copy_to(got.data());
    for (int k = 0; k < c; ++k)
        for (int i = 0; i < 4; ++i)
            for (int r = 0; r < 3; ++r)
                for (int s = 0; s < 3; ++s) {
                    auto const value =
                        static_cast<float>(got[static_cast<std::size_t>(dw.layout().offset({{k, i, r, s}}))]);
                    bool const is_infinite = k / 4 == at_c / 4 && i == at_c % 4 && s == 2;
                    INFO(k << ' ' << i << ' ' << r << ' ' << s);
                    CHECK((is_infinite ? std::isinf(value) : value == p * q));
                }
}
