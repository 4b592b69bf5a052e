// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <iterator>
#include <string>

#include "backend/hip/sm90a_device.hpp"
#include "support/check_case.hpp"
#include "support/run_case.hpp"

namespace test {

/// Covers whole images and parts of images, of even and odd extents; partial tiles of channels and filters; windows
/// that reach over all edges; filters with contiguous channels or taps; more tiles than the emulated GPU has
/// processors.
inline constexpr char const* planes_problems[] = {
    "n1c8h1w2k8r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs",     "n2c72h14w14k136r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs",
    "n3c136h7w7k72r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs",
    "n2c16h31w33k24r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs",  // parts start at any element
    "n1c8h2w300k16r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs",  // rows longer than a part
    "n19c8h5w4k192r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs",  // a warpgroup has no channels in every other tile
    "n19c72h5w4k192r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs",
    "n19c8h4w6k8r1s1pt2l1b0r1u1v1d1e1g1 nchw kcrs",  // a frame of zeros
    "n3c72h7w7k136r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs",  "n2c24h14w14k40r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs",
    "n1c64h11w55k64r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs", "n19c8h9w8k8r3s3pt0l2b1r0u1v1d1e1g1 nchw kcrs",
    "n2c40h9w10k72r3s3pt1l1b1r1u1v1d1e1g1 nchw krsc",
    "n2c24h9w12k136r2s4pt1l2b0r1u1v1d1e1g1 nchw krsc",  // an even filter
    "n9c120h20w14k8r4s1pt0l0b2r0u1v1d1e1g1 nchw krsc",  // taps equal the stages of filters
    "n5c72h9w14k8r1s3pt0l1b0r1u1v1d1e1g1 nchw krsc",   "n1c16h40w2k8r7s1pt3l0b3r0u1v1d1e1g1 nchw krsc",
    "n2c16h8w31k21r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs",  // y's last block of eight channels is partial
    "n3c16h8w8k13r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs"};

/// Checks a schedule on every `step`-th problem, from `first` on, channels-last or in planes.
template <class T, class Schedule>
void check_planes(std::string const& type, std::size_t first = 0, std::size_t step = 1, bool channels_last = false) {
    using Relu = fk::Activation<fk::Relu>;
    using Norm = fk::BatchNormInference<fk::Spatial>;
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<Schedule>();
    using Scheduled = decltype(scheduled);
    auto const text_of = [&](std::string sizes) {
        if (channels_last) sizes.replace(sizes.find("nchw"), 4, "nhwc");
        return sizes + " " + type;
    };
    for (std::size_t i = first; i < std::size(planes_problems); i += step) {
        std::string const text = text_of(planes_problems[i]);
        INFO(text);
        check_case(Case::parse(text + " CBA relu #3"), run_conv<Scheduled, T, fk::dynamic, fk::Bias, Relu>, scheduled);
    }
    for (char const* sizes :
         {"n3c16h9w9k24r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs", "n3c24h5w6k16r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs"}) {
        std::string const text = text_of(sizes);
        INFO(text);
        check_case(Case::parse(text + " CN #1"), run_conv<Scheduled, T, fk::dynamic, Norm>, scheduled);
    }
}

}  // namespace test
