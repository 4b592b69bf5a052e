// SPDX-License-Identifier: MIT
// Channel slices of larger tensors, as concatenation writes and a split reads them, on every schedule of a Conv:
// results are exact, and elements of other slices stay poisoned; or the schedule's refusal names the condition.
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "backend/hip/sm90a_device.hpp"
#include "support/check_case.hpp"
#include "support/refusal.hpp"
#include "support/run_case.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using namespace fusekit::hip;

namespace {

/// Slices of x, of y and of both, 16-byte aligned, and slices at odd multiples of the element size: of channels-last
/// tensors and of planes.
constexpr char const* channels_last_slices[] = {"nhwc/8>nhwc/16 krsc", "nhwc/16>nhwc krsc", "nhwc>nhwc/8 krsc",
                                                "nhwc/1>nhwc/3 krsc"};
constexpr char const* plane_slices[] = {"nchw/8>nchw/16 kcrs", "nchw/16>nchw kcrs", "nchw>nchw/8 kcrs",
                                        "nchw/1>nchw/3 kcrs"};
constexpr char const *three = "n2c16h8w16k24r3s3pt1l1b1r1u1v1d1e1g1", *one = "n2c24h8w16k40r1s1pt0l0b0r0u1v1d1e1g1";

/// Runs a Conv and a Bias on slices; `sentence` is a part of the refusal of the layouts from index `accepted` on.
template <class Schedule>
void check_slices(std::string const& sizes, char const* const (&layouts)[4], int accepted = 4,
                  std::string const& sentence = "") {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<Schedule>();
    auto const run = run_conv<decltype(scheduled), fk::half, fk::dynamic, fk::Bias>;
    for (int i = 0; i < 4; ++i) {
        Case const about = Case::parse(sizes + " " + layouts[i] + " half CB #64");
        if (i < accepted) {
            check_case(about, run, scheduled);
            continue;
        }
        INFO(about.print());
        test::Problem const problem(about);
        oracle::Tensor const expected = problem.expected();
        CHECK(refusal([&] { static_cast<void>(run(problem, expected, scheduled)); }).find(sentence) !=
              std::string::npos);
    }
}

struct Slices {
    static constexpr char const* all[3][3] = {
        {"nhwc/8", "krsc", "nhwc/16"}, {"nhwc/16", "krsc", "nhwc"}, {"nhwc", "krsc", "nhwc/3"}};
};

}  // namespace

TEST_CASE("schedules of channels-last convolutions read and write channel slices, or name the condition") {
    check_slices<WarpSpecialized<64, 64, 4>>(three, channels_last_slices);
    check_slices<Halo<>>(three, channels_last_slices, 3, "Halo: bytes from one pixel of x to the next = 34");
    check_slices<StripHalo<>>("n2c16h8w16k16r3s3pt1l1b1r1u1v1d1e1g1", channels_last_slices, 3,
                              "StripHalo: bytes from one pixel of x to the next = 34");
    check_slices<Grouped<>>("n2c32h8w16k32r3s3pt1l1b1r1u1v1d1e1g4", channels_last_slices, 3,
                            "Grouped: pixels of x are not at multiples of 16 bytes");
    check_slices<TallGemm<>>("n2c64h8w16k40r1s1pt0l0b0r0u1v1d1e1g1", channels_last_slices, 0,
                             "TallGemm: x or y is not dense, with channels last, at a multiple of 16 bytes");
    char const* const stem[] = {"nhwc>nhwc/16 krsc", "nhwc/1>nhwc krsc", "nhwc/8>nhwc krsc", "nhwc/5>nhwc/5 krsc"};
    check_slices<Stem<>>("n2c3h8w16k24r3s3pt1l1b1r1u2v2d1e1g1", stem, 1,
                         "Stem: x's pixels are not contiguous in rows and channels");
}

TEST_CASE("schedules of planes read and write channel slices") {
    check_slices<Planes<>>(three, plane_slices);
    check_slices<TmaPlanes<>>(one, plane_slices);
    check_slices<TallPlanes<>>(one, plane_slices);
    check_slices<GatheredPlanes<>>("n2c16h9w16k24r3s3pt1l1b1r1u2v2d1e1g1", plane_slices);
}

TEST_CASE("schedules of both orders read and write channel slices") {
    check_slices<MatrixGemm<64, 64>>(three, channels_last_slices);
    check_slices<MatrixGemm<64, 64>>(three, plane_slices);
    check_slices<Gemm<64, 64, 8>>(three, channels_last_slices);
    check_slices<Gemm<64, 64, 8>>(three, plane_slices);
    check_slices<Split<MatrixGemm<64, 64>, 2>>(three, channels_last_slices);
    check_slices<Split<MatrixGemm<64, 64>, 2>>(three, plane_slices);
    check_slices<Direct<>>(three, channels_last_slices);
    check_slices<Direct<>>(three, plane_slices);
    check_slices<Depthwise<>>("n2c16h8w16k16r3s3pt1l1b1r1u1v1d1e1g16", channels_last_slices);
    check_slices<Depthwise<>>("n2c16h8w16k16r3s3pt1l1b1r1u1v1d1e1g16", plane_slices);
    check_slices<Gemv<>>("n2c64h1w1k40r1s1pt0l0b0r0u1v1d1e1g1", channels_last_slices);
}

TEST_CASE("schedules of transposed convolutions read and write channel slices") {
    fk::hip::Device device = sm90a_device();
    auto halo = device.with<PhasedHalo<>>();
    check_transposed<fk::half, fk::filter(3, 3).pad(1).stride(2), false, Slices>(halo, {2, 24, 7, 12}, 16);
    auto col2im = device.with<Col2im<>>();
    check_transposed<fk::half, fk::filter(3, 3).pad(1), false, Slices>(col2im, {2, 3, 9, 12}, 64);
}
