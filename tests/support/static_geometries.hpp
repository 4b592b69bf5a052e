// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "support/check_case.hpp"
#include "support/run_case.hpp"

namespace test {

/// Oracle window of a filter, and layouts of x and of the weights.
template <int Space>
struct GeometryOf;
template <>
struct GeometryOf<1> {
    static constexpr char const* layouts[][2] = {
        {"ncw", "kcs"}, {"nwc", "ksc"}, {"nwc>ncw", "kcs"}, {"ncw+1", "ksc*2"}};
    static oracle::Window window(fk::Filter<1> const& f) {
        return {1, f.size[0], 0, f.pad_before[0], 0, f.pad_after[0], 1, f.strides[0], 1, f.dilations[0], f.group_count};
    }
};
template <>
struct GeometryOf<2> {
    static constexpr char const* layouts[][2] = {
        {"nchw", "kcrs"}, {"nhwc", "krsc"}, {"nhwc", "kcrs"}, {"nchw+1", "krsc*2"}};
    static oracle::Window window(fk::Filter<2> const& f) {
        return {f.size[0],    f.size[1],    f.pad_before[0], f.pad_before[1], f.pad_after[0], f.pad_after[1],
                f.strides[0], f.strides[1], f.dilations[0],  f.dilations[1],  f.group_count};
    }
};
template <>
struct GeometryOf<3> {
    static constexpr char const* layouts[][2] = {{"ncdhw", "kctrs"},
                                                 {"ndhwc", "ktrsc"},
                                                 {"ndhwc>ncdhw", "kctrs"},
                                                 {"ncdhw+1>ndhwc", "ktrsc*2"},
                                                 {"dhncw", "ktrsc+1"}};
    static oracle::Window window(fk::Filter<3> const& f) {
        return {f.size[1],       f.size[2],      f.pad_before[1], f.pad_before[2], f.pad_after[1], f.pad_after[2],
                f.strides[1],    f.strides[2],   f.dilations[1],  f.dilations[2],  f.group_count,  f.size[0],
                f.pad_before[0], f.pad_after[0], f.strides[0],    f.dilations[0]};
    }
};

/// Checks a geometry as a template argument, in several layouts, on device(seed).
template <class T, auto Geometry>
void check_geometry(oracle::Shape x, std::int64_t k, auto& device) {
    using Of = GeometryOf<Geometry.rank>;
    Case about;
    about.x = x, about.k = k;
    about.type = about.parameters = fk::data_type<T>;
    about.form = "CBA", about.mode = "relu";
    about.window = Of::window(Geometry);
    for (auto const& [layouts, weights] : Of::layouts) {
        std::string const word = layouts;
        about.x_layout = word.substr(0, word.find('>'));
        about.y_layout = word.substr(word.find('>') + 1);
        about.w_layout = weights;
        about.seed += 1;
        INFO(Geometry.to_string());
        auto& chosen = device(about.seed);
        using Device = std::remove_reference_t<decltype(chosen)>;
        check_case(about, run_conv<Device, T, Geometry, fk::Bias, fk::Activation<fk::Relu>>, chosen);
    }
}

/// Convolutions with compile-time geometry. `device(seed)` returns the device of a case.
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

/// Compile-time geometries of signals and volumes.
inline void check_geometries_of_signals(auto device) {
    check_geometry<float, fk::filter(1)>({2, 19, 1, 35}, 33, device);
    check_geometry<float, fk::filter(3).pad(1)>({1, 16, 1, 81}, 24, device);
    check_geometry<float, fk::filter(5).pad(3, 0).stride(2)>({2, 5, 1, 50}, 9, device);
    check_geometry<float, fk::filter(4).pad(6).dilation(3).groups(3)>({2, 6, 1, 23}, 9, device);
    check_geometry<float, fk::filter(3).pad(1).groups(12)>({2, 12, 1, 42}, 12, device);
    check_geometry<float, fk::filter(17).pad(8)>({1, 3, 1, 40}, 5, device);
    check_geometry<fk::half, fk::filter(3).pad(1)>({2, 17, 1, 54}, 20, device);
    check_geometry<fk::bfloat16, fk::filter(2).stride(2)>({1, 33, 1, 71}, 11, device);
}
inline void check_geometries_of_volumes(auto device) {
    check_geometry<float, fk::filter(1, 1, 1)>({2, 19, 3, 5, 2}, 33, device);
    check_geometry<float, fk::filter(3, 3, 3).pad(1)>({1, 9, 5, 6, 4}, 20, device);
    check_geometry<float, fk::filter(3, 3, 3).pad(1).stride(2)>({2, 5, 6, 7, 5}, 9, device);
    check_geometry<float, fk::filter(1, 1, 1).stride(2)>({1, 8, 5, 5, 3}, 16, device);
    check_geometry<float, fk::filter(2, 3, 1).pad(2, 0, 0, 0, 2, 1).stride(1, 2, 3).dilation(2, 1, 1)>({2, 3, 8, 9, 5},
                                                                                                       5, device);
    check_geometry<float, fk::filter(3, 1, 2).pad(1, 0, 1)>({1, 4, 3, 6, 7}, 7, device);
    check_geometry<float, fk::filter(5, 4, 3).pad(2, 2, 1)>({1, 2, 7, 6, 5}, 4, device);
    check_geometry<float, fk::filter(3, 3, 3).pad(2).dilation(2).groups(2)>({1, 6, 5, 6, 4}, 10, device);
    check_geometry<float, fk::filter(3, 3, 3).pad(1).groups(12)>({2, 12, 5, 4, 3}, 12, device);
    check_geometry<float, fk::filter(2, 2, 2).groups(5)>({1, 5, 5, 6, 4}, 15, device);
    check_geometry<fk::half, fk::filter(3, 3, 3).pad(1)>({2, 10, 4, 5, 3}, 20, device);
    check_geometry<fk::bfloat16, fk::filter(3, 3, 3).pad(1).stride(1, 2, 2)>({1, 11, 5, 4, 6}, 11, device);
}

/// Every operator with per-pixel parameters, after convolutions and without one.
inline void check_coordinates_of_signals_and_volumes(auto& device) {
    using Device = std::remove_reference_t<decltype(device)>;
    using R = fk::Residual;
    using M = fk::BatchNormInference<fk::PerActivation>;
    using Relu = fk::Activation<fk::Relu>;
    constexpr auto volume = fk::filter(3, 2, 3).pad(1, 0, 1).stride(2, 1, 1);
    constexpr auto signal = fk::filter(3).pad(2, 1);
    for (char const* layouts : {"ncdhw kctrs", "ndhwc ktrsc", "ncdhw+1>ndhwc kctrs", "cndhw ktrsc"}) {
        std::string const window = "r2s3pt0l1b0r1u1v1d1e1g1D5T3F1B1U2E1 ";
        check_case(Case::parse("n2c3h6w5k9" + window + layouts + " float/half CRA relu #3"),
                   run_conv<Device, float, volume, R, Relu>, device);
        check_case(Case::parse("n2c3h6w5k9" + window + layouts + " half CM #4"), run_conv<Device, fk::half, volume, M>,
                   device);
        check_case(Case::parse("n3c7h5w3k7r1s1pt0l0b0r0u1v1d1e1g1D4T1F0B0U1E1 " + std::string(layouts) +
                               " bfloat16 RMA relu #5"),
                   run_pointwise_of<3, Device, fk::bfloat16, R, M, Relu>, device);
    }
    for (char const* layouts : {"ncw kcs", "nwc ksc", "ncw+1>nwc kcs"}) {
        check_case(Case::parse("n2c3h1w37k9r1s3pt0l2b0r1u1v1d1e1g1 " + std::string(layouts) + " float CRM #3"),
                   run_conv<Device, float, signal, R, M>, device);
        check_case(Case::parse("n3c7h1w29k7r1s1pt0l0b0r0u1v1d1e1g1 " + std::string(layouts) + " half RMA relu #4"),
                   run_pointwise_of<1, Device, fk::half, R, M, Relu>, device);
    }
}

}  // namespace test
