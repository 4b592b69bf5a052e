// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/copied_rows.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "backend/hip/one_kernel.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "support/check_case.hpp"
#include "support/run_case.hpp"

using namespace test;
using fusekit::hip::WarpSpecialized, fusekit::hip::Roles, fusekit::hip::Split;

namespace {

using Relu = fk::Activation<fk::Relu>;

/// Rows of x and weights at multiples of 8, 4 and 2 bytes: several k-tiles and fewer channels than one, several tiles,
/// windows in the padding and between images, strides beyond those of TMA's im2col mode.
constexpr char const* misaligned[] = {
    "n1c116h8w5k116r1s1pt0l0b0r0u1v1d1e1g1",   "n3c58h7w5k58r3s3pt1l1b1r1u1v1d1e1g1",
    "n2c12h11w9k66r3s3pt2l1b0r2u2v2d1e2g1",    "n1c180h6w30k36r2s5pt0l2b1r2u1v3d2e1g1",
    "n1c36h30w12k130r5s5pt2l2b1r2u11v3d2e1g1", "n5c6h13w17k200r1s1pt0l0b0r0u1v1d1e1g1",
    "n3c57h7w5k58r3s3pt1l1b1r1u1v1d1e1g1",     "n1c131h7w5k57r1s1pt0l0b0r0u1v1d1e1g1",
    "n2c1h9w11k5r4s4pt1l1b1r1u1v1d1e1g1",      "n3c65h7w5k131r3s3pt1l1b1r1u2v1d1e1g1"};

// With FEWER_KERNELS a tile of each kind: the rows of other tiles are copied by the same code.
#ifdef FEWER_KERNELS
using Schedules = std::tuple<General<192, 128, 4>, General<96, 128, 5, Roles::ping_pong>, Split<General<64, 64, 2>, 2>>;
#else
using Schedules =
    std::tuple<General<64, 64, 2>, General<192, 128, 4>, General<256, 128, 3>, General<64, 64, 8, Roles::ping_pong>,
               General<96, 128, 5, Roles::ping_pong>, Split<General<64, 64, 2>, 2>, Split<General<64, 64, 8>, 4>>;
#endif

}  // namespace

TEMPLATE_LIST_TEST_CASE("HIP: convolutions of misaligned pixels and filters on sm_90a's tensor cores are exact", "",
                        Schedules) {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<TestType>();
    using Scheduled = decltype(scheduled);
    for (std::string const sizes : misaligned)
        check_case(Case::parse(sizes + " nhwc krsc half CBA relu #3"),
                   run_conv<Scheduled, fk::half, fk::dynamic, fk::Bias, Relu>, scheduled);
    check_case(Case::parse("n2c60h9w8k40r3s3pt1l1b1r1u1v1d1e1g1 nhwc krsc half CRA relu #1"),
               run_conv<Scheduled, fk::half, fk::dynamic, fk::Residual, Relu>, scheduled);
    check_case(Case::parse("n2c28h9w8k16r3s1pt1l0b0r0u1v1d1e1g1 nhwc+8>nhwc krsc+8 bfloat16 C #3"),
               run_conv<Scheduled, fk::bfloat16, fk::dynamic>, scheduled);
}

TEST_CASE("HIP: no element beside misaligned slices of x and weights is used on sm_90a's tensor cores") {
    fk::hip::Device device = sm90a_device();
    auto bulk = device.with<WarpSpecialized<64, 64, 3>>();
    auto const run = [&](int channels, int first) {
        constexpr int pixels = 7 * 10, filters = 9;
        int const whole = channels + 8;
        auto const sliced = [&](fk::Layout<4> const& layout, int rows) {
            std::vector<fk::half> values(static_cast<std::size_t>(rows * whole),
                                         std::numeric_limits<float>::quiet_NaN());
            for (int row = 0; row < rows; ++row)
                for (int c = 0; c < channels; ++c) values[static_cast<std::size_t>(row * whole + first + c)] = 1.0f;
            fk::Tensor<fk::half, fk::hip::Device> tensor(device, layout);
            tensor.copy_from(values.data());
            return tensor;
        };
        auto const x = sliced(fk::nhwc(1, 7, 10, whole), pixels),
                   w = sliced(fk::krsc(filters, 3, 1, whole), 3 * filters);
        fk::TensorView<fk::half const> const of_x(x.data() + first, {{{1, channels, 7, 10}}, x.layout().stride}),
            of_w(w.data() + first, {{{filters, channels, 3, 1}}, w.layout().stride});
        std::vector<fk::half> got(pixels * filters, -7.0f);
        fk::Tensor<fk::half, fk::hip::Device> y(device, fk::nhwc(1, 7, 10, filters));
        y.copy_from(got.data());
        fk::Plan<fk::Conv<fk::filter(3, 1).pad(1, 0)>>::bind({.weights = of_w})(bulk, of_x, y);
        device.synchronize();
        y.copy_to(got.data());
        for (int i = 0; i < pixels * filters; ++i) {
            int const row = i / filters / 10;
            REQUIRE(static_cast<float>(got[static_cast<std::size_t>(i)]) == channels * (row == 0 || row == 6 ? 2 : 3));
        }
    };
    for (int const channels : {2, 4, 6, 62, 63, 64, 65, 66, 68})
        for (int const first : {0, 1, 2, 3, 4}) run(channels, first);
}

TEST_CASE("HIP: a schedule whose stages leave no room in shared memory refuses misaligned pixels") {
    fk::hip::Device device = sm90a_device();
    auto full = device.with<WarpSpecialized<128, 128, 6>>();
    auto const x = fk::random<fk::half>(device, fk::nhwc(1, 2, 3, 4), 1),
               w = fk::random<fk::half>(device, fk::krsc(8, 1, 1, 4), 2);
    auto y = fk::random<fk::half>(device, fk::nhwc(1, 2, 3, 8), 3);
    CHECK(refusal([&] {
              fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = w})(full, x, y);
          }).find("bytes from one row of x to the next = 24 is not a multiple of 16") != std::string::npos);
}

TEST_CASE("HIP: the library selects WarpSpecialized or TallGemm for misaligned pixels on sm_90a") {
    using Plan = fk::Plan<fk::Conv<fk::dynamic>, fk::Bias, Relu>;
    constexpr auto architecture = fk::hip::Architecture::sm(90);
    struct Choice {
        int channels, images;
        char const* schedule;
    };
    // on an H200 3x3 filters of few such channels are faster with MatrixGemm
    for (auto const& [channels, images, schedule] : {Choice{58, 1, "TallGemm"},
                                                     {58, 32, "TallGemm"},
                                                     {116, 1, "TallGemm"},
                                                     {116, 32, "WarpSpecialized"},
                                                     {122, 1, "TallGemm"},
                                                     {122, 32, "TallGemm"}}) {
        fk::TensorView<fk::half const> const w(nullptr, fk::krsc(channels, 1, 1, channels));
        fk::TensorView<fk::half const, 1> const bias(nullptr, fk::channels(channels));
        auto const layer = Plan::bind({.weights = w, .filter = fk::filter(1, 1)}, {.bias = bias}, {});
        auto const layout = fk::nhwc(images, 28, 28, channels);
        auto const prediction = layer.predict<fk::half>(architecture, layout, layout);
        std::string const name = prediction.schedule.name(prediction.split_k).c_str();
        CAPTURE(channels, images, name);
        CHECK(name.find(schedule) != std::string::npos);
    }
}
