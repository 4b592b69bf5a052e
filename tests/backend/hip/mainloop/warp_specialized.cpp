// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/warp_specialized.hpp"

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <string>
#include <vector>

#include "backend/hip/one_kernel.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "support/binary_operators.hpp"
#include "support/check_case.hpp"
#include "support/pooled_windows.hpp"
#include "support/run_case.hpp"
#include "support/stored_values.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fusekit::hip::WarpSpecialized, fusekit::hip::Roles, fusekit::hip::Split;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;
using PerActivation = fk::BatchNormInference<fk::PerActivation>;
using Conv1 = fk::Conv<fk::filter(1, 1)>;

static_assert(fusekit::hip::reads_in_bulk<fk::Plan<Conv1, fk::Bias, fk::Residual, Relu>, fk::half, fk::half>);
static_assert(!fusekit::hip::reads_in_bulk<fk::Plan<Conv1, fk::Residual, fk::Residual>, fk::half, fk::half>);
static_assert(!fusekit::hip::reads_in_bulk<fk::Plan<Conv1, fk::Residual, fk::Store>, fk::half, fk::half>);
static_assert(!fusekit::hip::reads_in_bulk<fk::Plan<Conv1, fk::Bias>, fk::half, fk::half>);

/// Partial tiles, several tiles, and more tiles than the emulated GPU has SMs; windows that span rows and images; a
/// tail of channels in a k-tile.
template <class T, class Schedule>
void check_schedule(std::string const& type) {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<Schedule>();
    using Scheduled = decltype(scheduled);
    for (char const* sizes : {"n1c8h1w1k8r1s1pt0l0b0r0u1v1d1e1g1",          // one element
                              "n3c72h7w5k136r3s3pt1l1b1r1u1v1d1e1g1",
                              "n2c64h11w9k64r3s3pt2l1b0r2u2v1d1e2g1",       // uneven padding, strides and dilations
                              "n5c136h13w17k200r1s1pt0l0b0r0u1v1d1e1g1",    // a matrix of pixels
                              "n3c16h9w8k24r1s1pt0l0b0r0u2v2d1e1g1",        // every other pixel
                              "n1c40h6w30k72r2s5pt0l2b1r2u1v3d2e1g1"}) {
        std::string const text = std::string(sizes) + " nhwc krsc " + type;
        check_case(Case::parse(text + " CBA relu #3"), run_conv<Scheduled, T, fk::dynamic, fk::Bias, Relu>, scheduled);
    }
    // pixels of y that are misaligned for TMA, so that threads store them
    for (char const* sizes :
         {"n1c8h1w1k1r1s1pt0l0b0r0u1v1d1e1g1 nhwc krsc ", "n3c72h7w5k3r3s3pt1l1b1r1u1v1d1e1g1 nhwc krsc ",
          "n2c64h11w9k66r3s3pt2l1b0r2u2v2d1e2g1 nhwc krsc ", "n5c16h13w17k191r1s1pt0l0b0r0u1v1d1e1g1 nhwc krsc ",
          "n2c16h9w7k20r3s3pt1l1b1r1u1v1d1e1g1 nhwc krsc "})
        check_case(Case::parse(sizes + type + " CBA relu #3"), run_conv<Scheduled, T, fk::dynamic, fk::Bias, Relu>,
                   scheduled);
    check_case(Case::parse("n3c16h9w8k24r3s3pt1l1b1r1u1v1d1e1g1 nhwc krsc " + type + " CN #1"),
               run_conv<Scheduled, T, fk::dynamic, Norm>, scheduled);
    check_case(Case::parse("n3c16h9w8k24r3s3pt1l1b1r1u1v1d1e1g1 nhwc krsc " + type + " CRA relu #1"),
               run_conv<Scheduled, T, fk::dynamic, fk::Residual, Relu>, scheduled);
    check_case(Case::parse("n3c16h9w8k24r3s3pt1l1b1r1u1v1d1e1g1 nhwc krsc " + type + " CM #2"),
               run_conv<Scheduled, T, fk::dynamic, PerActivation>, scheduled);
    check_case(Case::parse("n2c24h9w8k16r1s1pt0l0b0r0u1v1d1e1g1 nhwc+8>nhwc krsc+8 " + type + " C #3"),
               run_conv<Scheduled, T, fk::dynamic>,
               scheduled);  // x and weights with gaps after every row, plane and image
}

}  // namespace

TEMPLATE_TEST_CASE("HIP: convolutions on sm_90a's tensor cores are exact with every schedule", "",
                   (WarpSpecialized<64, 64, 2>), (General<64, 64, 6, Roles::cooperative, 2>), (General<128, 128, 3>),
                   (General<192, 128, 4>), (General<256, 64, 3>), (General<64, 64, 3, Roles::ping_pong>),
                   (WarpSpecialized<128, 128, 4, Roles::ping_pong>), (General<128, 64, 6, Roles::ping_pong>),
                   (General<96, 128, 4>), (General<256, 128, 3>), (General<192, 64, 5, Roles::ping_pong>),
                   (General<144, 128, 5>), (General<144, 192, 4>), (General<128, 192, 4>),
                   (Split<General<64, 64, 2>, 2>), (Split<General<64, 64, 3>, 8>)) {
    check_schedule<fk::half, TestType>("half");
}

TEST_CASE("HIP: TMA loads no rows past the last filter in the last column of tiles") {
    fk::hip::Device device = sm90a_device();
    using Plan = fk::Plan<Conv1>;
    auto const last = [&]<class Schedule>(Schedule, std::int64_t filters) {
        fk::Tensor<fk::half, fk::hip::Device> x(device, fk::nhwc(1, 3, 5, 64)), w(device, fk::krsc(filters, 1, 1, 64)),
            y(device, fk::nhwc(1, 3, 5, filters));
        return prepare_conv_with<Schedule>(device.gpu(), Plan::bind({.weights = w}), Plan::collapse(x.const_view()),
                                           Plan::collapse(y.view()))
            .value()
            .params.maps.last_filters;
    };
    CHECK(last(WarpSpecialized<128, 128, 4>{}, 160) == 32);
    CHECK(last(WarpSpecialized<128, 128, 4>{}, 257) == 1);
    CHECK(last(WarpSpecialized<128, 128, 4>{}, 256) == 0);
    CHECK(last(WarpSpecialized<128, 128, 4>{}, 72) == 0);  // one column: all boxes have 72 filters
    CHECK(last(WarpSpecialized<144, 192, 4>{}, 320) == 128);
}

TEMPLATE_TEST_CASE("HIP: convolutions of bfloat16 on sm_90a's tensor cores are exact", "", (General<64, 64, 2>),
                   (WarpSpecialized<128, 128, 4, Roles::ping_pong>), (Split<General<64, 64, 4>, 4>)) {
    check_schedule<fk::bfloat16, TestType>("bfloat16");
}

TEMPLATE_TEST_CASE("HIP: convolutions of int8 on sm_90a's tensor cores are exact", "", (WarpSpecialized<64, 128, 3>),
                   (WarpSpecialized<192, 128, 4>), (WarpSpecialized<128, 128, 4, Roles::ping_pong>),
                   (WarpSpecialized<192, 64, 8>), (WarpSpecialized<144, 192, 4>)) {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<TestType>();
    using Scheduled = decltype(scheduled);
    auto const parse = [](char const* sizes, char const* rest) {
        return Case::parse(sizes + std::string(" nhwc krsc int8/float ") + rest);
    };
    char const* const uneven = "n2c128h11w9k64r3s3pt2l1b0r2u2v1d1e2g1";  // padding, strides and dilations
    for (char const* sizes : {"n1c16h1w1k16r1s1pt0l0b0r0u1v1d1e1g1",  // one element
                              "n2c144h7w5k160r3s3pt1l1b1r1u1v1d1e1g1", uneven,
                              "n3c144h13w17k144r1s1pt0l0b0r0u1v1d1e1g1",  // a matrix of pixels
                              "n2c80h9w11k48r3s3pt1l1b1r1u1v1d1e1g1", "n2c48h9w11k80r1s1pt0l0b0r0u1v1d1e1g1",
                              "n2c64h9w11k64r3s3pt1l1b1r1u1v1d1e1g1"})
        check_case(parse(sizes, "CBQ #3"), run_conv<Scheduled, fk::int8, fk::dynamic, fk::Bias, fk::Requantize>,
                   scheduled);
    check_case(parse(uneven, "CBAQ relu #1"),
               run_conv<Scheduled, fk::int8, fk::dynamic, fk::Bias, Relu, fk::Requantize>, scheduled);
    check_case(parse(uneven, "CRQ #2"), run_conv<Scheduled, fk::int8, fk::dynamic, fk::Residual, fk::Requantize>,
               scheduled);
}

TEST_CASE("HIP: int8 on matrix units stores half and bfloat16 like SIMT arithmetic") {
    fk::hip::Device device = sm90a_device();
    auto wide = device.with<WarpSpecialized<64, 128, 3>>();
    auto narrow = device.with<WarpSpecialized<192, 64, 8>>();
    auto plain = device.with<fk::hip::Gemm<64, 64, 8>>();
    auto const x = fk::random<fk::int8>(device, fk::nhwc(2, 7, 5, 144), 1),
               w = fk::random<fk::int8>(device, fk::krsc(72, 3, 3, 144), 2);
    auto const scale = fk::random<float>(device, fk::channels(72), 3);
    auto const layer =
        fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Requantize>::bind({.weights = w}, {.scale = scale});
    auto const check = [&]<class U>(U const*, auto& bulk) {
        auto const layout = fk::nhwc(2, 7, 5, 72);
        fk::Tensor<U, fk::hip::Device> one(device, layout), other(device, layout);
        std::vector<U> got(static_cast<std::size_t>(layout.span()), U(77)), expected = got;
        one.copy_from(got.data());
        layer(bulk, x, one);
        layer(plain, x, other);
        device.synchronize();
        one.copy_to(got.data());
        other.copy_to(expected.data());
        int distinct = 0;
        for (std::size_t i = 0; i < got.size(); ++i) {
            REQUIRE(static_cast<float>(got[i]) == static_cast<float>(expected[i]));
            distinct += static_cast<float>(got[i]) != static_cast<float>(got[0]);
        }
        CHECK(distinct > 1000);
    };
    check(static_cast<fk::half const*>(nullptr), wide);
    check(static_cast<fk::bfloat16 const*>(nullptr), narrow);
}

TEST_CASE(
    "HIP: int8 weights with gaps between rows of taps are refused to a schedule that pairs filters, and run without") {
    fk::hip::Device device = sm90a_device();
    auto bulk = device.with<WarpSpecialized<64, 64, 4>>();
    auto plain = device.with<fk::hip::Gemm<64, 64, 8>>();
    auto const x = fk::random<fk::int8>(device, fk::nhwc(1, 5, 7, 16), 1),
               wide = fk::random<fk::int8>(device, fk::krsc(16, 3, 4, 16), 2);
    auto const scale = fk::random<float>(device, fk::channels(16), 3);
    fk::TensorView<fk::int8 const> const w(wide.data(), {{{16, 16, 3, 3}}, wide.layout().stride});
    auto const layer =
        fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Requantize>::bind({.weights = w}, {.scale = scale});
    auto const layout = fk::nhwc(1, 5, 7, 16);
    std::vector<fk::int8> got(static_cast<std::size_t>(layout.span()), fk::int8(77)), expected = got;
    fk::Tensor<fk::int8, fk::hip::Device> one(device, layout), other(device, layout);
    one.copy_from(got.data());
    CHECK(refusal([&] { layer(bulk, x, one); }).find("WarpSpecialized: the weights' row stride = 64 is not 48") !=
          std::string::npos);
    layer(device.channels_last(), x, one);
    layer(plain, x, other);
    device.synchronize();
    one.copy_to(got.data());
    other.copy_to(expected.data());
    for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i].value == expected[i].value);
}

TEST_CASE("HIP: tensors that TMA cannot load are refused by TMA schedules and run with others") {
    fk::hip::Device device = sm90a_device();
    auto bulk = device.with<WarpSpecialized<64, 64, 2>>();
    auto const x = fk::tensor<fk::half>(device, fk::nhwc(1, 1, 2, 2), {1, 2, 5, 6}),
               w = fk::tensor<fk::half>(device, fk::krsc(2, 1, 1, 1), {3, 4});
    auto y = fk::tensor<fk::half>(device, fk::nhwc(1, 1, 2, 1), {-1, -1});
    auto const layer = fk::Plan<fk::TransposedConv<fk::filter(1, 1)>>::bind({.weights = w});
    CHECK(refusal([&] {
              layer(bulk, x, y);
          }).find("WarpSpecialized: bytes from one pixel of x to the next = 4 is not a multiple of 16") !=
          std::string::npos);
    fk::half got[2];
    device.synchronize();
    y.copy_to(got);
    CHECK(static_cast<float>(got[0]) == -1);
    layer(device.channels_last(), x, y);
    device.synchronize();
    y.copy_to(got);
    CHECK(static_cast<float>(got[0]) == 11);
    CHECK(static_cast<float>(got[1]) == 39);

    auto const wide = fk::random<fk::half>(device, fk::nhwc(1, 2, 2, 8), 1),
               filters = fk::random<fk::half>(device, fk::krsc(4, 1, 1, 8), 2),
               z = fk::random<fk::half>(device, fk::nhwc(1, 2, 2, 4), 3);
    auto narrow = fk::random<fk::half>(device, fk::nhwc(1, 2, 2, 4), 4);
    CHECK(refusal([&] {
              fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Residual>::bind({.weights = filters}, {.z = z})(bulk, wide,
                                                                                                       narrow);
          }).find("WarpSpecialized: bytes of a pixel of y = 8 is not a multiple of 16") != std::string::npos);
    auto padded = fk::random<fk::half>(device, fk::nhwc(1, 2, 3, 4), 4);
    fk::TensorView<fk::half> const rows(padded.data(), {{{1, 4, 2, 2}}, padded.layout().stride});
    CHECK(refusal([&] {
              fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = filters})(bulk, wide, rows);
          }).find("WarpSpecialized: y's pixels are not evenly spaced: pass y without gaps") != std::string::npos);
}

TEST_CASE("HIP: threads store a slice of channels that is misaligned for TMA, and nothing beside it") {
    fk::hip::Device device = sm90a_device();
    auto bulk = device.with<WarpSpecialized<64, 64, 2>>();
    auto const store = [&](std::int64_t channels, std::int64_t of_whole) {
        std::vector<fk::half> ones(8 * 70, fk::half(1.0f)), got(static_cast<std::size_t>(70 * of_whole));
        fk::Tensor<fk::half, fk::hip::Device> x(device, fk::nhwc(1, 7, 10, 8)), w(device, fk::krsc(channels, 1, 1, 8)),
            whole(device, fk::nhwc(1, 7, 10, of_whole));
        x.copy_from(ones.data()), w.copy_from(ones.data());
        for (std::int64_t const first : {0, 1, 2, 4}) {
            whole.copy_from(std::vector<fk::half>(got.size(), fk::half(-3.0f)).data());
            fk::TensorView<fk::half> const slice(whole.data() + first, {{{1, channels, 7, 10}}, whole.layout().stride});
            fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = w})(bulk, x, slice);
            device.synchronize();
            whole.copy_to(got.data());
            for (std::size_t i = 0; i < got.size(); ++i) {
                auto const channel = static_cast<std::int64_t>(i) % of_whole - first;
                REQUIRE(static_cast<float>(got[i]) == (channel >= 0 && channel < channels ? 8 : -3));
            }
        }
    };
    store(5, 9);
    store(4, 12);  // at multiples of 8 bytes: four channels of a pixel at a time
    store(12, 20);
}

namespace {

fk::Tensor<fk::half, fk::hip::Device> filled(fk::hip::Device& device, fk::Layout<4> const& layout, float value) {
    fk::Tensor<fk::half, fk::hip::Device> tensor(device, layout);
    tensor.copy_from(std::vector<fk::half>(static_cast<std::size_t>(tensor.size()), value).data());
    return tensor;
}

}  // namespace

TEST_CASE("HIP: a prepared run on matrix units accepts other tensors of its layouts") {
    fk::hip::Device device = sm90a_device();
    auto const w = filled(device, fk::krsc(8, 1, 1, 8), 1);
    auto const layout = fk::nhwc(1, 3, 5, 8);
    auto const layer = fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = w});
    auto const run = layer.prepare<fk::half>(device.channels_last(), layout, layout);
    for (float const value : {1.0f, -2.0f}) {
        auto const x = filled(device, layout, value);
        auto y = filled(device, layout, 77);
        run(device, x, y);
        std::vector<fk::half> got(120);
        y.copy_to(got.data());
        CHECK(std::all_of(got.begin(), got.end(), [&](float each) { return each == 8 * value; }));
    }
}

TEST_CASE("HIP: workspace is the same for stand-in addresses as for memory") {
    fk::hip::Device device = sm90a_device();
    auto const layout = fk::nhwc(2, 14, 14, 64);
    auto const w = filled(device, fk::krsc(64, 3, 3, 64), 1), x = filled(device, layout, 1);
    auto y = filled(device, layout, 0);
    fk::Tensor<float, fk::hip::Device, 1> mean(device, fk::channels(64)), variance(device, fk::channels(64)),
        scratch(device, fk::channels(fk::ChannelStatistics::scratch(layout.shape)));
    auto const layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::ChannelStatistics, Relu>::bind(
        {.weights = w}, {.mean = mean, .variance = variance, .scratch = scratch}, {});
    auto const address = [](int number) { return static_cast<fk::half*>(fk::detail::stand_in(number)); };
    auto const on = device.channels_last();
    auto const asked = layer.prepare(on, fk::TensorView<fk::half const>(address(1), layout),
                                     fk::TensorView<fk::half>(address(2), layout)),
               known = layer.prepare(on, x, y);
    CHECK(known.workspace_bytes() > 0);
    CHECK(asked.workspace_bytes() == known.workspace_bytes());
}

// Channels of y that do not fill the filters' tile, in one block of 64 and in several; taps in reverse, and padding
// wider than the taps reach.
TEMPLATE_TEST_CASE("HIP: transposed convolutions of stride 1 on sm_90a's tensor cores are exact", "",
                   (General<64, 64, 2>), (WarpSpecialized<96, 128, 3>), (General<192, 128, 4>),
                   (General<128, 128, 4, Roles::ping_pong>), (Split<General<64, 64, 2>, 2>)) {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<TestType>();
    check_transposed<fk::half, fk::filter(3, 3).pad(1), false, ChannelsLastLayouts>(scheduled, {2, 136, 9, 7}, 72);
    check_transposed<fk::half, fk::filter(2, 3).pad(0, 3, 2, 1).dilation(2, 1), false, ChannelsLastLayouts>(
        scheduled, {2, 24, 8, 9}, 16);
    check_transposed<fk::bfloat16, fk::filter(1, 1), false, ChannelsLastLayouts>(scheduled, {3, 200, 5, 11}, 40);
    // boxes of filters that read the filters of later channels, except in the last k-tile; and that do not
    check_transposed<fk::half, fk::filter(1, 1), false, ChannelsLastLayouts>(scheduled, {2, 40, 5, 11}, 136);
    check_transposed<fk::half, fk::filter(1, 1), false, ChannelsLastLayouts>(scheduled, {2, 16, 5, 11}, 136);
    // NaN and infinities reach only the outputs that read them: these filters are rows past y's last channel
    check_transposed_infinities<fk::half, fk::filter(1, 1)>(scheduled, {2, 40, 5, 7}, 136);
    check_transposed_infinities<fk::half, fk::filter(3, 3)>(scheduled, {2, 72, 6, 7}, 40);
}

TEST_CASE("HIP: ActivationSlope is fused into a transposed convolution's epilogue") {
    using Plan = fk::Plan<fk::TransposedConv<fk::filter(3, 3).pad(1)>, fk::ActivationSlope<fk::Relu>>;
    static_assert(fusekit::hip::reads_in_bulk<Plan, fk::half, fk::half>);
    fk::hip::Device device = sm90a_device();
    check_slope_after_transposed(device, device.with<WarpSpecialized<96, 128, 3>>(), {2, 136, 9, 7}, 72);
}

TEST_CASE("HIP: outputs beside y, gates and pools after convolutions on sm_90a's tensor cores are exact") {
    fk::hip::Device device = sm90a_device();
    auto bulk = device.with<WarpSpecialized<64, 64, 8, Roles::ping_pong>>();
    auto matrix = device.with<fk::hip::MatrixGemm<128, 64, 2>>();
    oracle::Window const same{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1};
    check_stored_conv<fk::half, float>(bulk, {"nhwc", "nhwc", "nhwc+1", "nchw"}, {2, 16, 9, 7}, 24, {.r = 1, .s = 1});
    check_stored_conv<fk::half, fk::half>(matrix, {"nhwc", "nchw", "nchw", "nhwc"}, {2, 5, 9, 7}, 19, same);
    check_binary_after_conv<fk::Multiply, fk::half>(matrix, product, "nhwc");
    check_pooled_conv<fk::Pool<fk::Average, 2, 2>, fk::half>(matrix, {"nhwc", "nchw"}, {3, 5, 10, 6}, 19, same);
}
