// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "support/run_case.hpp"

namespace test {

/// Geometry as a template argument: a case whose window is the plan's, in several layouts, on device(seed).
template <class T, auto Geometry>
void check_geometry(oracle::Shape x, std::int64_t k, auto& device) {
    Case about;
    about.x = x, about.k = k;
    about.type = about.parameters = fk::data_type<T>;
    about.form = "CBA", about.mode = "relu";
    about.window = {Geometry.size[0],   Geometry.size[1],   Geometry.before[0],  Geometry.before[1],
                    Geometry.after[0],  Geometry.after[1],  Geometry.step[0],    Geometry.step[1],
                    Geometry.spread[0], Geometry.spread[1], Geometry.group_count};
    for (char const* layouts : {"nchw kcrs", "nhwc krsc", "nhwc kcrs", "nchw+1 krsc*2"}) {
        about.x_layout = about.y_layout = std::string(layouts).substr(0, std::string(layouts).find(' '));
        about.w_layout = std::string(layouts).substr(std::string(layouts).find(' ') + 1);
        about.seed += 1;
        INFO(Geometry.to_string() << ": " << about.print());
        Problem const problem(about);
        oracle::Tensor const expected = problem.expected();
        REQUIRE(unfit(expected) == "");
        auto& chosen = device(about.seed);
        using Device = std::remove_reference_t<decltype(chosen)>;
        CHECK((run_conv<Device, T, Geometry, fk::Bias, fk::Activation<fk::Relu>>(problem, expected, chosen)) == "");
    }
}

/// Convolutions whose geometry is known at compile time. `device(seed)` is what a case runs on.
inline void check_geometries(auto device) {
    check_geometry<float, fk::filter(1, 1)>({2, 19, 5, 7}, 33, device);
    check_geometry<float, fk::filter(3, 3).pad(1)>({1, 16, 9, 9}, 24, device);
    check_geometry<float, fk::filter(3, 3).pad(1).stride(2)>({2, 5, 10, 11}, 9, device);
    check_geometry<float, fk::filter(1, 1).stride(2)>({1, 8, 7, 7}, 16, device);
    check_geometry<float, fk::filter(7, 7).pad(3).stride(2)>({1, 3, 23, 21}, 12, device);
    check_geometry<float, fk::filter(1, 5).pad(0, 2)>({1, 4, 6, 13}, 7, device);
    check_geometry<float, fk::filter(5, 2).pad(1, 0, 2, 1).stride(1, 2).dilation(2, 3)>({2, 3, 14, 17}, 5, device);
    check_geometry<float, fk::filter(3, 3).pad(2).dilation(2).groups(2)>({1, 6, 8, 9}, 10, device);
    check_geometry<float, fk::filter(3, 3).pad(1).groups(12)>({2, 12, 7, 6}, 12, device);
    check_geometry<float, fk::filter(3, 3).pad(1).groups(5)>({1, 5, 7, 9}, 15, device);
    check_geometry<float, fk::filter(12, 11).pad(5)>({1, 2, 15, 16}, 3, device);
    check_geometry<fk::half, fk::filter(3, 3).pad(1)>({2, 17, 6, 9}, 20, device);
    check_geometry<fk::bfloat16, fk::filter(3, 3).pad(1).stride(2)>({1, 33, 9, 8}, 11, device);
}

}  // namespace test
