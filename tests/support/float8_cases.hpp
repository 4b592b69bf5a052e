// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "support/amax_values.hpp"
#include "support/check_case.hpp"
#include "support/letters.hpp"
#include "support/run_case.hpp"

/// Plans on 8-bit floats, which every device converts: both layouts, y and weights of other types, tiles, thin groups,
/// without a Conv; results that saturate.
namespace test {

template <class Device>
void check_float8(Device& device) {
    using namespace letters;
    char const* const sizes[] = {"n2c12h7w5k20r3s3pt1l1b1r1u1v1d1e1g1", "n1c6h8w9k6r3s3pt1l0b2r1u2v1d1e1g6"};
    for (std::string const size : sizes)
        for (char const* layouts : {" nchw kcrs ", " nhwc krsc ", " nhwc>nchw krsc "}) {
            auto const parse = [&](char const* rest) { return Case::parse(size + layouts + rest); };
            check_case(parse("e4m3/float CBAS relu #2"), run_conv<Device, fk::e4m3, fk::dynamic, B, A<fk::Relu>, S>,
                       device);
            check_case(parse("e5m2_fnuz/float CB #3"), run_conv<Device, Types<fk::e5m2_fnuz, float>, fk::dynamic, B>,
                       device);
        }
    for (char const* layouts : {" nchw kcrs ", " nhwc krsc "}) {
        auto const parse = [&](char const* rest) { return Case::parse(sizes[0] + std::string(layouts) + rest); };
        check_case(parse("half CB #3"), run_conv<Device, Types<fk::half, fk::e5m2, fk::e4m3>, fk::dynamic, B>, device);
        check_case(parse("e4m3_fnuz/half BA relu #2"), run_pointwise<Device, fk::e4m3_fnuz, B, A<fk::Relu>>, device);
    }
    check_amax<fk::e4m3, fk::e4m3>(device, "nchw", {2, 5, 7, 6}, 19, 0);
    check_amax<float, fk::half>(device, "nhwc", {2, 5, 7, 6}, 4, 0);
    check_amax_of_nan(device);
}

}  // namespace test
