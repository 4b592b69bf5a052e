// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/phased_halo.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "backend/hip/sm90a_device.hpp"
#include "support/half_types.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fusekit::hip::PhasedHalo;

namespace {

struct Layouts {
    static constexpr char const* all[3][3] = {
        {"nhwc", "krsc", "nhwc"}, {"nhwc+8", "kcrs+1", "nhwc+3"}, {"nhwc", "crsk", "nhwc+8"}};
};
struct SignalLayouts {
    static constexpr char const* all[1][3] = {{"nwc", "ksc", "nwc"}};
};

/// From k channels to x, which has whole images.
template <class T, auto filter, class In = Layouts>
void check(auto& device, oracle::Shape const& x, std::int64_t k) {
    static_assert(fk::hip::PhasedHaloEntry::has_kernel<fk::Plan<fk::TransposedConv<filter>, fk::Bias>, T, T>);
    check_transposed<T, filter, false, In>(device, x, k);
}

}  // namespace

// Odd and even images; phases without taps; windows that begin in padding; several blocks of columns, some of them
// partly filled; several k-tiles, the last one partly filled; more tiles than the emulated GPU has SMs.
TEMPLATE_LIST_TEST_CASE("HIP: gradients of few channels through strides are exact", "", HalfTypes) {
    fk::hip::Device device = sm90a_device();
    auto halo = device.with<PhasedHalo<>>();
    check<TestType, fk::filter(7, 7).pad(3).stride(2)>(halo, {2, 3, 22, 27}, 64);
    check<TestType, fk::filter(3, 3).pad(1).stride(2)>(halo, {3, 24, 13, 42}, 72);
    check<TestType, fk::filter(4, 4).stride(4)>(halo, {2, 3, 20, 29}, 96);
}

TEST_CASE("HIP: gradients of few channels are exact through every stride") {
    fk::hip::Device device = sm90a_device();
    auto halo = device.with<PhasedHalo<>>();
    check<fk::half, fk::filter(11, 11).pad(2).stride(4)>(halo, {1, 3, 43, 39}, 24);
    check<fk::half, fk::filter(3, 5).pad(4, 0, 1, 2).stride(3, 1)>(halo, {2, 5, 11, 18}, 8);
    check<fk::half, fk::filter(2, 3).pad(0, 1, 2, 3).stride(1, 4)>(halo, {2, 33, 6, 17}, 136);
    check<fk::half, fk::filter(1, 1).stride(2)>(halo, {2, 72, 9, 8}, 24);  // phases without taps
    check<fk::half, fk::filter(1, 1).pad(1).stride(2)>(halo, {2, 7, 5, 6}, 16);
    check<fk::half, fk::filter(5, 5).pad(2).stride(3)>(halo, {19, 1, 4, 3}, 8);
    check<fk::half, fk::filter(2, 2).stride(2)>(halo, {1, 51, 6, 300}, 16);
    check<fk::half, fk::filter(3, 3).pad(1).stride(2)>(halo, {5, 8, 1, 1}, 8);
    check<fk::half, fk::filter(5).pad(2).stride(2), SignalLayouts>(halo, {2, 6, 1, 401}, 32);
}

// Tiles have more k-tiles than the ring has stages, twice as many and more: a warpgroup may not wait for a later fill
// of a stage than the next one.
TEST_CASE("HIP: gradients of more channels than the stages of PhasedHalo hold are exact") {
    fk::hip::Device device = sm90a_device();
    auto halo = device.with<PhasedHalo<>>();
    check<fk::half, fk::filter(2, 2).stride(2)>(halo, {3, 8, 32, 32}, 1016);
    check<fk::half, fk::filter(4, 4).stride(4)>(halo, {3, 3, 40, 44}, 1024);
}

// More taps in a mode than the masks of MatrixGemm have bits, and more than 16 phases.
TEST_CASE("HIP: the library computes gradients of patches of 16 x 16 by PhasedHalo") {
    fk::hip::Device device = sm90a_device();
    constexpr auto patch = fk::filter(16, 16).stride(16);
    auto const on = device.channels_last();
    check<fk::half, patch>(on, {2, 3, 32, 48}, 136);
    using Plan = fk::Plan<fk::TransposedConv<patch>>;
    using Mainloop = fk::hip::PhasedHaloGemm<Plan, fk::hip::DefaultPhasedHalo, fk::half, fk::half>;
    fk::Tensor<fk::half, fk::hip::Device> dy(device, fk::nhwc(2, 2, 3, 136)), w(device, fk::krsc(136, 16, 16, 3)),
        dx(device, fk::nhwc(2, 32, 48, 3));
    auto const launch =
        on.prepare(Plan::bind({.weights = w}), Plan::collapse(dy.const_view()), Plan::collapse(dx.view())).value();
    CHECK(launch.kernel == fk::hip::kernel_of<Plan, Mainloop>().function);
}

TEST_CASE("HIP: PhasedHalo gives operators the coordinates of y") {
    fk::hip::Device device = sm90a_device();
    auto halo = device.with<PhasedHalo<>>();
    check_slope_after_transposed<fk::filter(3, 3).pad(1).stride(2)>(device, halo, {2, 12, 13, 8}, 72);
    check_slope_after_transposed<fk::filter(7, 7).pad(3).stride(2)>(device, halo, {1, 3, 9, 12}, 16);
}

namespace {

/// Checks dx where one value of dy or one weight is infinite, and all others are 1: sums that do not contain the value
/// are finite.
template <auto filter>
void check_infinity(fk::hip::Device& device, std::int64_t h, std::int64_t w, bool of_weights) {
    constexpr int c = 3, k = 24, size = filter.size[0], at_k = 5, at_c = 1, at_r = size - 1, at_s = size / 2;
    std::int64_t const p = filter.output(0, h), q = filter.output(1, w), at_p = p - 1, at_q = q / 2;
    fk::Tensor<fk::half, fk::hip::Device> dy(device, fk::nhwc(1, p, q, k)), weights(device, fk::krsc(k, size, size, c)),
        dx(device, fk::nhwc(1, h, w, c));
    auto const fill = [](auto& tensor, bool is_infinite, fk::Index<4> const& at) {
        std::vector<fk::half> values(static_cast<std::size_t>(tensor.size()), fk::half(1.0f));
        if (is_infinite)
            values[static_cast<std::size_t>(tensor.layout().offset(at))] =
                fk::half(std::numeric_limits<float>::infinity());
        tensor.copy_from(values.data());
    };
    fill(dy, !of_weights, {{0, at_k, at_p, at_q}}), fill(weights, of_weights, {{at_k, at_c, at_r, at_s}});
    fk::Plan<fk::TransposedConv<filter>>::bind({.weights = weights})(device.with<PhasedHalo<>>(), dy.const_view(),
                                                                     dx.view());
    device.synchronize();
    std::vector<fk::half> got(static_cast<std::size_t>(dx.size()));
    dx.copy_to(got.data());
    for (std::int64_t y = 0; y < h; ++y)
        for (std::int64_t x = 0; x < w; ++x)
            for (int i = 0; i < c; ++i) {
                int sum = 0;
                bool is_infinite = false;
                for (int r = 0; r < size; ++r)
                    for (int s = 0; s < size; ++s) {
                        std::int64_t const row = y + filter.pad_before[0] - r, column = x + filter.pad_before[1] - s,
                                           stride = filter.strides[0];
                        if (row < 0 || column < 0 || row % stride != 0 || column % stride != 0 || row / stride >= p ||
                            column / stride >= q)
                            continue;
                        sum += k;
                        is_infinite |= of_weights ? i == at_c && r == at_r && s == at_s
                                                  : row / stride == at_p && column / stride == at_q;
                    }
                auto const value =
                    static_cast<float>(got[static_cast<std::size_t>(dx.layout().offset({{0, i, y, x}}))]);
                INFO(y << ' ' << x << ' ' << i);
                CHECK((is_infinite ? std::isinf(value) : value == static_cast<float>(sum)));
            }
}

}  // namespace

TEST_CASE("HIP: an infinity reaches only the pixels of a strided gradient whose taps read it") {
    fk::hip::Device device = sm90a_device();
    for (bool const of_weights : {false, true}) {
        check_infinity<fk::filter(7, 7).pad(3).stride(2)>(device, 17, 20, of_weights);
        check_infinity<fk::filter(3, 3).pad(1).stride(2)>(device, 9, 11, of_weights);
        check_infinity<fk::filter(5, 5).pad(1).stride(3)>(device, 14, 13, of_weights);
        check_infinity<fk::filter(4, 4).stride(4)>(device, 8, 12, of_weights);
    }
}
