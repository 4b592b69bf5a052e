// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/phased_warp_specialized.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <string>
#include <vector>

#include "backend/hip/one_kernel.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "support/half_types.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fusekit::hip::WarpSpecialized, fusekit::hip::Roles;

namespace {

template <class T, auto Geometry, class Layouts = ChannelsLastLayouts, class Device>
void check_strided(Device& device, oracle::Shape const& x, std::int64_t k) {
    check_transposed<T, Geometry, false, Layouts>(device, x, k);
}

constexpr auto three = fk::filter(3, 3).pad(1).stride(2);

static_assert(
    fk::hip::reads_in_bulk<fk::Plan<fk::TransposedConv<three>, fk::ActivationSlope<fk::Relu>>, fk::half, fk::half>);
static_assert(!fk::hip::HaloEntry::has_kernel<fk::Plan<fk::TransposedConv<three>>, fk::half, fk::half>);

}  // namespace

// Odd and even images; phases of 4, 2, 2 and 1 taps; a phase without taps; phases whose taps begin in padding; strides
// in one mode; channels that fill neither a k-tile nor a tile; more tiles than the emulated GPU has SMs.
TEMPLATE_TEST_CASE("HIP: strided transposed convolutions on sm_90a's tensor cores are exact with every schedule", "",
                   (WarpSpecialized<64, 64, 2>), (General<192, 128, 4>), (General<144, 192, 4>),
                   (General<64, 128, 5, Roles::ping_pong>), (General<96, 64, 7, Roles::ping_pong>)) {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<TestType>();
    check_strided<fk::half, three>(scheduled, {3, 136, 13, 11}, 72);
    check_strided<fk::half, three>(scheduled, {2, 64, 14, 12}, 64);
    check_strided<fk::half, fk::filter(1, 1).stride(2)>(scheduled, {2, 72, 9, 8}, 136);
    check_strided<fk::half, fk::filter(2, 5).pad(0, 1, 2, 3).stride(1, 2)>(scheduled, {2, 24, 7, 9}, 16);
    // boxes of filters that read later taps and channels
    check_strided<fk::half, three>(scheduled, {2, 40, 9, 8}, 136);
    check_transposed_infinities<fk::half, three>(scheduled, {2, 40, 6, 7}, 72);
}

TEMPLATE_LIST_TEST_CASE("HIP: phases of every window on sm_90a's tensor cores are exact", "", HalfTypes) {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<WarpSpecialized<64, 64, 4, Roles::ping_pong>>();
    check_strided<TestType, fk::filter(5, 5).pad(2).stride(2)>(scheduled, {2, 16, 9, 12}, 40);
    check_strided<TestType, fk::filter(7, 7).pad(3).stride(2)>(scheduled, {1, 72, 12, 13}, 16);
    check_strided<TestType, fk::filter(2, 2).stride(2)>(scheduled, {3, 24, 6, 8}, 72);
    check_strided<TestType, fk::filter(1, 1).pad(1).stride(2)>(scheduled, {2, 16, 5, 6},
                                                               24);  // the last phase has taps
    check_strided<TestType, fk::filter(3, 5).pad(4, 0, 1, 2).stride(1, 4)>(scheduled, {2, 8, 5, 18}, 8);
    check_strided<TestType, fk::filter(3, 3).pad(2).stride(2).dilation(2, 3)>(scheduled, {2, 24, 9, 11}, 16);
    check_strided<TestType, fk::filter(1, 3).pad(0, 1).stride(1, 2)>(scheduled, {2, 24, 1, 31}, 16);
    check_strided<TestType, three>(scheduled, {5, 8, 1, 1}, 8);  // three phases without pixels
    check_strided<TestType, three, ChannelsLastGaps>(scheduled, {2, 24, 8, 7}, 16);
}

TEST_CASE("HIP: a tensor that an operator reads is loaded phase by phase") {
    fk::hip::Device device = sm90a_device();
    check_slope_after_transposed<three>(device, device.with<WarpSpecialized<192, 128, 4>>(), {2, 136, 13, 8}, 72);
    check_slope_after_transposed<fk::filter(1, 1).stride(2)>(
        device, device.with<WarpSpecialized<64, 64, 4, Roles::ping_pong>>(), {3, 72, 9, 10}, 16);
}

TEST_CASE("HIP: operators of a strided transposed convolution get the coordinates of y") {
    fk::hip::Device device = sm90a_device();
    auto bulk = device.with<WarpSpecialized<64, 64, 4, Roles::ping_pong>>();
    oracle::Shape const x{2, 24, 9, 10}, u{2, 16, 5, 5}, filter{16, 24, 3, 3};
    Filled<fk::half, fk::hip::Device, 4> dy(device, "nhwc", u, integers(u.size(), -3, 4, 1)),
        w(device, "krsc", filter, integers(filter.size(), -2, 2, 2)),
        a(device, "nchw", x, integers(x.size(), -3, 3, 3)), b(device, "nhwc", x, integers(x.size(), -5, 5, 4));
    Placed<fk::hip::Device, 4> dx(device, fk::DataType::float16, layout_of<4>("nhwc", x), 64),
        values(device, fk::DataType::float16, layout_of<4>("nchw", x), 64);
    fk::Plan<fk::TransposedConv<three>, fk::Residual, fk::Store, fk::Residual>::bind(
        {.weights = w.view()}, {.z = a.view()}, {.values = values.template view<fk::half>()}, {.z = b.view()})(
        bulk, dy.view(), dx.template view<fk::half>());
    auto expected = oracle::transposed_conv(oracle::Tensor{u, dy.values}, w.values, x, GeometryOf<2>::window(three));
    for (std::size_t i = 0; i < expected.at.size(); ++i) expected.at[i].value += a.values[i];
    CHECK(difference(expected, values.fetch()) == "");
    for (std::size_t i = 0; i < expected.at.size(); ++i) expected.at[i].value += b.values[i];
    CHECK(difference(expected, dx.fetch()) == "");
}

TEST_CASE("HIP: a prepared strided transposed convolution accepts other tensors of its layouts") {
    fk::hip::Device device = sm90a_device();
    auto const of_x = fk::nhwc(2, 3, 4, 8), of_y = fk::nhwc(2, 6, 7, 8);
    auto const filled = [&](fk::Layout<4> const& layout, float value) {
        fk::Tensor<fk::half, fk::hip::Device> tensor(device, layout);
        tensor.copy_from(std::vector<fk::half>(static_cast<std::size_t>(tensor.size()), value).data());
        return tensor;
    };
    auto const w = filled(fk::krsc(8, 1, 1, 8), 1);
    auto const layer = fk::Plan<fk::TransposedConv<fk::filter(1, 1).stride(2)>>::bind({.weights = w});
    auto const run = layer.prepare<fk::half>(device, of_x, of_y);
    for (float const value : {1.0f, -2.0f}) {
        auto const x = filled(of_x, value);
        auto y = filled(of_y, 77);
        run(device, x, y);
        device.synchronize();
        std::vector<fk::half> got(static_cast<std::size_t>(of_y.span()));
        y.copy_to(got.data());
        for (std::size_t i = 0; i < got.size(); ++i) {
            std::size_t const pixel = i / 8, p = pixel / 7 % 6, q = pixel % 7;
            REQUIRE(static_cast<float>(got[i]) == (p % 2 == 0 && q % 2 == 0 ? 8 * value : 0));
        }
    }
}

namespace {

/// Predictions for the gradient by x of a convolution of half from n x c x h x h to k channels.
template <auto Geometry>
fk::hip::Predictions predictions(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t k) {
    auto const address = [](int number) { return static_cast<fk::half*>(fk::detail::stand_in(number)); };
    std::int64_t const p = Geometry.output(0, h), r = Geometry.size[0], s = Geometry.size[1];
    fk::TensorView<fk::half const> const dy(address(1), fk::nhwc(n, p, p, k)), w(address(2), fk::krsc(k, r, s, c));
    return predict_all(fk::hip::Architecture::sm(90), fk::Plan<fk::TransposedConv<Geometry>>::bind({.weights = w}), dy,
                       fk::TensorView<fk::half>(address(3), fk::nhwc(n, h, h, c)));
}

}  // namespace

TEST_CASE("HIP: gradients by x through a stride have WarpSpecialized's predictions first") {
    for (std::int64_t const n : {1, 8, 64})
        for (auto const& all : {predictions<three>(n, 128, 56, 128), predictions<three>(n, 512, 14, 512),
                                predictions<fk::filter(1, 1).stride(2)>(n, 256, 56, 512),
                                predictions<fk::filter(1, 1).stride(2)>(n, 1024, 14, 2048)}) {
            std::string const best = all.each[0].to_string().c_str(),
                              last = all.each[all.count - 1].to_string().c_str();
            INFO(best << "; " << last);
            CHECK(best.starts_with("WarpSpecialized<"));
            for (auto const& each : all) CHECK_FALSE(std::string(each.to_string().c_str()).starts_with("Split<Warp"));
        }
}
