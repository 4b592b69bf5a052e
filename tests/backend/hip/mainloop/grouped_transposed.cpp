// SPDX-License-Identifier: MIT
#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "backend/hip/gpu.hpp"
#include "fusekit/backend/hip/mainloop/grouped.hpp"
#include "support/half_types.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fusekit::hip::Grouped;

namespace {

struct Layouts {
    static constexpr char const* all[3][3] = {
        {"nhwc", "krsc", "nhwc"}, {"nhwc+8", "kcrs+1", "nhwc+8"}, {"nhwc", "crsk", "nhwc"}};
};

struct SignalLayouts {
    static constexpr char const* all[1][3] = {{"nwc", "ksc", "nwc"}};
};

/// From k channels to x, which has whole images.
template <class T, auto filter>
void check(auto& device, oracle::Shape const& x, std::int64_t k) {
    static_assert(fk::hip::GroupedEntry::has_kernel<fk::Plan<fk::TransposedConv<filter>>, T, T>);
    check_transposed<T, filter, false, Layouts>(device, x, k);
}

fk::hip::Device device_with_mma() {
    fk::hip::Device device = gpu();
    if (!fk::hip::GroupedEntry::runs_on(device.architecture())) SKIP("no GPU of compute capability 8.0 or later");
    return device;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("HIP: grouped gradients by x are exact through strides of 1", "", HalfTypes) {
    fk::hip::Device device = device_with_mma();
    auto grouped = device.with<Grouped<>>();
    check<TestType, fk::filter(3, 3).pad(1).groups(4)>(grouped, {2, 16, 9, 11}, 16);
    check<TestType, fk::filter(3, 3).pad(0, 2, 1, 0).groups(3)>(grouped, {1, 48, 6, 19}, 72);
    check<TestType, fk::filter(2, 5).pad(3, 1).dilation(1, 2).groups(2)>(grouped, {1, 24, 5, 14}, 40);
    check<TestType, fk::filter(1, 1).groups(2)>(grouped, {3, 64, 4, 5}, 64);
}

TEMPLATE_LIST_TEST_CASE("HIP: grouped gradients by x are exact through strides", "", HalfTypes) {
    fk::hip::Device device = device_with_mma();
    auto grouped = device.with<Grouped<>>();
    check<TestType, fk::filter(3, 3).pad(1).stride(2).groups(4)>(grouped, {2, 16, 9, 12}, 16);
    check<TestType, fk::filter(3, 3).pad(0, 2, 1, 0).stride(2, 1).groups(2)>(grouped, {1, 32, 8, 13}, 64);
    check<TestType, fk::filter(1, 1).stride(2).groups(2)>(grouped, {2, 16, 7, 6}, 24);  // phases without taps
    check<TestType, fk::filter(5, 4).pad(6, 1).stride(3, 2).groups(3)>(grouped, {1, 24, 11, 14}, 24);
}

TEST_CASE("HIP: a grouped gradient by x computes signals and tiles of several images") {
    fk::hip::Device device = device_with_mma();
    auto grouped = device.with<Grouped<>>();
    check_transposed<fk::half, fk::filter(5).pad(2).stride(2).groups(4), false, SignalLayouts>(grouped, {2, 32, 1, 33},
                                                                                               32);
    check<fk::half, fk::filter(3, 3).pad(1).stride(2).groups(4)>(grouped, {301, 16, 5, 7}, 16);
}

namespace {

/// Checks dx where one value of dy, in the second of `groups` groups of 4 channels, is infinite, and all weights are 1.
template <auto filter>
void check_infinity(fk::hip::Device& device, std::int64_t hw) {
    constexpr int groups = filter.group_count, c = 4 * groups, at_p = 2, at_q = 3;
    std::int64_t const pq = filter.output(0, hw);
    fk::Tensor<fk::half, fk::hip::Device> dy(device, fk::nhwc(1, pq, pq, c)), w(device, fk::krsc(c, 3, 3, 4)),
        dx(device, fk::nhwc(1, hw, hw, c));
    std::vector<fk::half> ones(static_cast<std::size_t>(w.size()), fk::half(1.0f)),
        values(static_cast<std::size_t>(dy.size()), fk::half(1.0f)), got(static_cast<std::size_t>(dx.size()));
    values[static_cast<std::size_t>(dy.layout().offset({{0, 5, at_p, at_q}}))] =
        fk::half(std::numeric_limits<float>::infinity());
    dy.copy_from(values.data()), w.copy_from(ones.data());
    fk::Plan<fk::TransposedConv<filter>>::bind({.weights = w})(device.with<Grouped<>>(), dy.const_view(), dx.view());
    dx.copy_to(got.data());
    for (std::int64_t h = 0; h < hw; ++h)
        for (std::int64_t q = 0; q < hw; ++q)
            for (int i = 0; i < c; ++i) {
                int sum = 0;
                bool is_infinite = false;
                for (int r = 0; r < 3; ++r)
                    for (int s = 0; s < 3; ++s) {
                        std::int64_t const row = h + 1 - r, column = q + 1 - s, stride = filter.strides[0];
                        if (row % stride != 0 || column % stride != 0 || row < 0 || column < 0 || row / stride >= pq ||
                            column / stride >= pq)
                            continue;
                        sum += 4;
                        is_infinite |= i / 4 == 1 && row / stride == at_p && column / stride == at_q;
                    }
                auto const value =
                    static_cast<float>(got[static_cast<std::size_t>(dx.layout().offset({{0, i, h, q}}))]);
                INFO(h << ' ' << q << ' ' << i);
                CHECK((is_infinite ? std::isinf(value) : value == static_cast<float>(sum)));
            }
}

}  // namespace

TEST_CASE("HIP: an infinity of dy reaches no other group's dx, nor pixels whose taps do not read it") {
    fk::hip::Device device = device_with_mma();
    check_infinity<fk::filter(3, 3).pad(1).groups(4)>(device, 7);
    check_infinity<fk::filter(3, 3).pad(1).stride(2).groups(4)>(device, 9);
}

TEST_CASE("HIP: the library selects Grouped for gradients by x of groups of 4 channels and more") {
    fk::hip::Device device = gpu();
    auto const selects = [&]<auto filter>(std::int64_t c, std::int64_t hw) {
        using Plan = fk::Plan<fk::TransposedConv<filter>>;
        using Mainloop = fk::hip::GroupedConv<Plan, fk::hip::DefaultGrouped, fk::half, fk::half>;
        std::int64_t const pq = filter.output(0, hw);
        fk::Tensor<fk::half, fk::hip::Device> dy(device, fk::nhwc(2, pq, pq, c)),
            w(device, fk::krsc(c, 3, 3, c / filter.group_count)), dx(device, fk::nhwc(2, hw, hw, c));
        auto const launch =
            device.channels_last()
                .prepare(Plan::bind({.weights = w}), Plan::collapse(dy.const_view()), Plan::collapse(dx.view()))
                .value();
        if constexpr (fk::hip::GroupedEntry::has_tma_kernel<Plan, fk::half, fk::half>) {
            using OfSm90a = fk::hip::GroupedTmaConv<Plan, fk::hip::DefaultGrouped, fk::half, fk::half>;
            if (launch.kernel == fk::hip::kernel_of<Plan, OfSm90a>().function) return true;
        }
        return launch.kernel == fk::hip::kernel_of<Plan, Mainloop>().function;
    };
    bool const runs = fk::hip::GroupedEntry::runs_on(device.architecture());
    CHECK(selects.template operator()<fk::filter(3, 3).pad(1).groups(32)>(128, 56) == runs);
    CHECK(selects.template operator()<fk::filter(3, 3).pad(1).stride(2).groups(32)>(256, 56) == runs);
    CHECK(selects.template operator()<fk::filter(3, 3).pad(1).groups(4)>(64, 14) == runs);
    // with many SMs another kernel is faster on these few pixels
    if (device.gpu().processors() == 4)
        CHECK(selects.template operator()<fk::filter(3, 3).pad(1).stride(2).groups(4)>(128, 14) == runs);
    static_assert(!fk::hip::GroupedEntry::has_kernel<
                  fk::Plan<fk::TransposedConv<fk::filter(3, 3).stride(2).dilation(2).groups(4)>>, fk::half, fk::half>);
    static_assert(!fk::hip::GroupedEntry::has_kernel<fk::Plan<fk::TransposedConv<fk::filter(3, 3).stride(2)>>, fk::half,
                                                     fk::half>);
}
