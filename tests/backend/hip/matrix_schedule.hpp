// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "backend/hip/sm90a_device.hpp"
#include "support/check_case.hpp"
#include "support/run_case.hpp"

namespace test {

/// Problems that TMA cannot load: planes of any size, channels that do not fill 16 bytes, gaps, unaligned tensors, and
/// groups.
inline constexpr char const* matrix_problems[] = {
    "n1c1h1w1k1r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs ",      "n2c24h7w5k136r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs ",
    "n3c5h9w8k67r2s3pt1l0b0r2u1v2d1e1g1 nchw+1 kcrs+1 ", "n2c40h8w8k24r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs ",
    "n2c3h13w17k20r5s5pt2l2b2r2u2v2d1e1g1 nhwc krsc ",   "n2c24h6w7k48r3s1pt1l0b1r0u1v1d2e1g2 nhwc>nchw krsc ",
    "n2c136h5w6k40r2s2pt1l1b0r0u1v1d1e1g1 nhwc krsc "};

/// Checks a schedule on matrix_problems with integers; results must be exact.
template <class T, class Schedule>
void check_matrix_schedule(std::string const& type) {
    using Relu = fk::Activation<fk::Relu>;
    using Norm = fk::BatchNormInference<fk::Spatial>;
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<Schedule>();
    using Scheduled = decltype(scheduled);
    for (char const* text : matrix_problems)
        for (char const* seed : {"#3", "#6"})  // other seeds have unaligned tensors
            check_case(Case::parse(text + type + " CBA relu " + seed),
                       run_conv<Scheduled, T, fk::dynamic, fk::Bias, Relu>, scheduled);
    check_case(Case::parse("n2c24h7w9k40r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs " + type + " CRN #4"),
               run_conv<Scheduled, T, fk::dynamic, fk::Residual, Norm>, scheduled);
}

}  // namespace test
