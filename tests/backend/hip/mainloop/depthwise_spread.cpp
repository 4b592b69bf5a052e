// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/depthwise_spread.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/half_types.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fusekit::hip::Depthwise;

namespace {

/// Depthwise layouts: channels last, planes, slices with gaps, reversed strides, and y in another order than x.
struct Layouts {
    static constexpr char const* all[6][3] = {{"nhwc", "kcrs", "nhwc"},     {"nchw", "kcrs", "nchw"},
                                              {"nhwc+1", "krsc", "nhwc+1"}, {"nchw+1", "kcrs*2-kr", "nchw+1"},
                                              {"nchw", "krsc", "nhwc"},     {"nhwc*2", "ckrs", "nchw-hw"}};
};
/// Layouts whose filters follow each other through all groups.
struct DenseFilters {
    static constexpr char const* all[2][3] = {{"nhwc", "kcrs", "nhwc"}, {"nchw", "kcrs", "nchw"}};
};

/// With FEWER_KERNELS half, in packets, and int8, which has other ones; the tests of other filters also run float.
#ifdef FEWER_KERNELS
using Elements = std::tuple<fk::half, fk::int8>;
#else
using Elements = HalvesAnd<float, fk::int8>;
#endif

template <class T, auto filter, bool operators = false, class Of = Layouts>
void check(auto& device, oracle::Shape const& x, std::int64_t k) {
    static_assert(fk::hip::DepthwiseEntry::has_kernel<fk::Plan<fk::TransposedConv<filter>>, T, float>);
    check_transposed<T, filter, operators, Of>(device, x, k);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("HIP: depthwise gradients by x are exact in every layout, through strides of 1", "", Elements) {
    fk::hip::Device device = gpu();
    auto depthwise = device.with<Depthwise<64>>();
    check<TestType, fk::filter(3, 3).pad(1).groups(6)>(depthwise, {2, 6, 9, 16}, 6);
    check<TestType, fk::filter(3, 3).pad(0, 1, 2, 0).groups(7)>(depthwise, {1, 7, 6, 11}, 7);
    check<TestType, fk::filter(5, 4).pad(7, 6).groups(3)>(depthwise, {1, 3, 5, 8}, 3);  // more padding than taps
}

TEMPLATE_LIST_TEST_CASE("HIP: depthwise gradients by x are exact in every layout, through strides of 2", "", Elements) {
    fk::hip::Device device = gpu();
    auto depthwise = device.with<Depthwise<64>>();
    check<TestType, fk::filter(3, 3).pad(1).stride(2).groups(6)>(depthwise, {2, 6, 9, 16}, 6);
    check<TestType, fk::filter(3, 3).pad(0, 0, 1, 1).stride(2).groups(7)>(depthwise, {5, 7, 12, 13}, 7);
    check<TestType, fk::filter(5, 5).pad(2).stride(2).groups(3)>(depthwise, {1, 3, 14, 32}, 3);
}

TEST_CASE("HIP: depthwise gradients by x are exact for filters, strides and dilations of many sizes") {
    fk::hip::Device device = gpu();
    auto depthwise = device.with<Depthwise<>>();
    check<float, fk::filter(1, 1).pad(2).groups(96)>(depthwise, {1, 96, 4, 5}, 96);
    check<float, fk::filter(1, 1).pad(2, 1).stride(2, 3).groups(3)>(depthwise, {2, 3, 7, 10}, 3);
    check<fk::half, fk::filter(2, 2).stride(3).groups(5)>(depthwise, {1, 5, 11, 26}, 5);
    check<fk::half, fk::filter(7, 7).pad(3).groups(4)>(depthwise, {1, 4, 9, 16}, 4);
    check<fk::half, fk::filter(7, 7).pad(3).stride(2).groups(2)>(depthwise, {1, 2, 15, 16}, 2);
    check<fk::int8, fk::filter(7, 7).pad(3).stride(2).groups(2)>(depthwise, {1, 2, 15, 16}, 2);
    check<fk::half, fk::filter(7, 6).pad(2, 4).stride(2, 4).groups(2)>(depthwise, {1, 2, 9, 12}, 2);
    check<float, fk::filter(7, 6).pad(2, 4).stride(2, 4).groups(2)>(depthwise, {1, 2, 15, 24}, 2);
    check<float, fk::filter(5, 3).pad(9, 8).stride(3).groups(3)>(depthwise, {1, 3, 7, 25},
                                                                 3);  // more padding than taps
    check<fk::bfloat16, fk::filter(3, 5).pad(1, 2).stride(1, 2).groups(116)>(depthwise, {1, 116, 4, 18}, 116);
    check<fk::bfloat16, fk::filter(3, 3).pad(1).stride(4, 1).groups(4)>(depthwise, {1, 4, 21, 9}, 4);
    check<float, fk::filter(9, 9).pad(4).groups(2)>(depthwise, {1, 2, 11, 12}, 2);
    check<fk::half, fk::filter(3, 3).pad(2).dilation(2).groups(6)>(depthwise, {2, 6, 8, 9}, 6);
    check<float, fk::filter(2, 3).pad(5, 1).dilation(3, 2).groups(3)>(depthwise, {1, 3, 4, 8}, 3);
}

TEST_CASE("HIP: depthwise gradients by x have signals, operators, and several channels a group") {
    fk::hip::Device device = gpu();
    auto depthwise = device.with<Depthwise<64>>();
    check_transposed<fk::half, fk::filter(5).pad(2).groups(4)>(depthwise, {2, 4, 1, 33}, 4);
    check_transposed<fk::half, fk::filter(4).pad(1).stride(2).groups(4)>(depthwise, {2, 4, 1, 30}, 4);
    check<fk::half, fk::filter(3, 3).pad(1).groups(6), true>(depthwise, {2, 6, 9, 16}, 6);
    check<fk::half, fk::filter(3, 3).pad(1).stride(2).groups(6), true>(depthwise, {2, 6, 9, 16}, 6);
    check<float, fk::filter(3, 3).pad(1).groups(3), false, DenseFilters>(depthwise, {1, 6, 9, 8}, 3);
    check<float, fk::filter(3, 3).pad(1).stride(2).groups(3), true, DenseFilters>(depthwise, {1, 9, 9, 8}, 3);
}

TEST_CASE("HIP: Depthwise refuses a gradient by x that sums over several filters, and filters with gaps") {
    fk::hip::Device device = gpu();
    fk::Tensor<float, fk::hip::Device> dy(device, fk::nhwc(1, 5, 5, 8)), w(device, fk::kcrs(8, 1, 3, 3)),
        of_pairs(device, fk::krsc(8, 3, 3, 2));
    auto const refused = [&](auto const& layer) {
        return refusal([&] { static_cast<void>(layer(device.with<Depthwise<>>(), dy)); });
    };
    CHECK(refused(fk::Plan<fk::TransposedConv<fk::filter(3, 3).groups(4)>>::bind({.weights = w})) ==
          "Plan<TransposedConv<filter(3, 3).groups(4)>>: Depthwise: C / groups = 2 is not 1: use Direct");
    CHECK(
        refused(fk::Plan<fk::TransposedConv<fk::filter(3, 3).groups(8)>>::bind({.weights = of_pairs})) ==
        "Plan<TransposedConv<filter(3, 3).groups(8)>>: Depthwise: filters of a group do not follow those of the group "
        "before it: use Direct");
}
