// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/dispatch/list.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/check_case.hpp"
#include "support/run_case.hpp"

using namespace test;
using fusekit::hip::Direct, fusekit::hip::Gemm, fusekit::hip::Elementwise;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;
using LeakyRelu = fk::Activation<fk::LeakyRelu>;
using PerActivation = fk::BatchNormInference<fk::PerActivation>;

/// Convolutions of a partial tile, one tile and several, aligned for vectorized loads and not.
template <class Schedule>
void check_conv() {
    fk::hip::Device device = gpu();
    auto scheduled = device.with<Schedule>();
    using Scheduled = decltype(scheduled);
    for (char const* text : {"n1c1h1w1k1r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs float CBA relu #2",
                             "n2c8h9w8k16r3s3pt1l1b1r1u1v1d1e1g1 nhwc krsc float CBA relu #3",
                             "n3c5h7w11k67r2s3pt1l0b0r2u1v2d1e1g1 nchw kcrs float CBA relu #5",
                             "n1c16h12w12k130r1s1pt0l0b0r0u1v1d1e1g1 nhwc>nchw kcrs float CBA relu #7",
                             "n2c12h10w9k24r3s2pt1l1b1r1u2v1d2e1g3 nchw>nhwc krsc+1 float CBA relu #9",
                             "n1c6h5w5k6r3s3pt1l1b1r1u1v1d1e1g6 nhwc kcrs float CBA relu #11"})
        check_case(Case::parse(text), run_conv<Scheduled, float, fk::dynamic, fk::Bias, Relu>, scheduled);
    for (char const* text : {"n2c16h9w8k72r3s3pt1l1b1r1u1v1d1e1g1 nhwc krsc half CN #4",
                             "n2c3h7w7k5r5s5pt2l2b2r2u2v2d1e1g1 nchw kcrs half CN #6"})
        check_case(Case::parse(text), run_conv<Scheduled, fk::half, fk::dynamic, Norm>, scheduled);
}

/// Two of the layouts for each size; `turn` rotates them, so that the schedules together cover each layout with each
/// size.
template <class Schedule>
void check_stream(std::size_t turn) {
    fk::hip::Device device = gpu();
    auto scheduled = device.with<Schedule>();
    using Scheduled = decltype(scheduled);
    constexpr std::array layouts{"nchw", "nhwc", "nchw>nhwc", "nchw+1", "nhwc*2"};
    for (char const* sizes : {"n1c1h1w1k1", "n3c7h5w3k7", "n9c16h4w8k16",
                              "n3c1072h1w3k1072",  // channels of several tiles, the last partial
                              "n5c12h2w3k12",  // packets that span more than two channels
                              "n7c24h1w1k24"}) {
        ++turn;
        for (char const* layout : {layouts[turn % 5], layouts[(turn + 2) % 5]}) {
            std::string const window = "r1s1pt0l0b0r0u1v1d1e1g1 ";
            check_case(Case::parse(sizes + window + layout + " kcrs float NA relu #2"),
                       run_pointwise<Scheduled, float, Norm, Relu>, scheduled);
            check_case(Case::parse(sizes + window + layout + " kcrs half MA leakyrelu #3"),
                       run_pointwise<Scheduled, fk::half, PerActivation, LeakyRelu>, scheduled);
        }
    }
}

}  // namespace

TEST_CASE("HIP: convolutions agree with the oracle with every schedule that implements them") {
    check_conv<Gemm<64, 64, 8>>();
    check_conv<Gemm<64, 64, 16>>();
    check_conv<Gemm<128, 64, 8>>();
    check_conv<Gemm<64, 128, 8>>();
    check_conv<Gemm<128, 128, 8>>();
    check_conv<Direct<64>>();
    check_conv<Direct<256>>();
}

TEST_CASE("HIP: plans without a convolution agree with the oracle with every schedule") {
    check_stream<Elementwise<64, 4, 1>>(0);
    check_stream<Elementwise<256, 8, 2>>(1);
    check_stream<Elementwise<128, 16, 8>>(2);
    check_stream<Elementwise<512, 16, 4>>(3);
    check_stream<Elementwise<64, 16, 2, 1>>(4);
    check_stream<fk::hip::DefaultElementwise<fk::hip::NvidiaTuning, float, false>>(5);
    check_stream<fk::hip::DefaultElementwise<fk::hip::AmdTuning, float, false>>(6);
}
