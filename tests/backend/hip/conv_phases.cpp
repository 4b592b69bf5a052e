// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/conv_phases.hpp"

#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <vector>

#include "backend/hip/gpu.hpp"

using namespace test;

namespace {

/// Checks coordinates 0 to 29 of one mode: each is in exactly one phase, which has exactly the taps at whole strides.
template <auto Geometry>
void check_phases() {
    using Phases = fk::hip::ConvPhases<fk::TransposedConv<Geometry>>;
    constexpr auto filter = Phases::filter;
    INFO(Geometry.to_string().c_str());
    for (int mode = 0; mode < Phases::space; ++mode)
        for (int coord = 0; coord < 30; ++coord) {
            int phases = 0, others = 1;
            for (int other = 0; other < Phases::space; ++other) others *= other == mode ? 1 : filter.strides[other];
            for (int i = 0; i < Phases::count; ++i) {
                auto const phase = Phases::phase(i);
                if (coord % filter.strides[mode] != phase.remainder[mode]) continue;
                ++phases;
                std::vector<int> expected, taps;
                for (int tap = 0; tap < filter.size[mode]; ++tap)
                    if ((coord + filter.pad_before[mode] - tap * filter.dilations[mode]) % filter.strides[mode] == 0)
                        expected.push_back(tap);
                for (int own = 0; own < phase.taps[mode]; ++own)
                    taps.push_back(phase.first_tap[mode] + own * phase.step[mode]);
                CHECK(taps == expected);
                CHECK(phase.pixels(mode, coord) + 1 == phase.pixels(mode, coord + 1));
            }
            CHECK(phases == others);
        }
    for (int i = 1; i < Phases::count; ++i) CHECK(Phases::phase(i).all_taps() <= Phases::phase(i - 1).all_taps());
}

}  // namespace

TEST_CASE("HIP: each pixel of a strided transposed convolution is in one phase, with its taps") {
    check_phases<fk::filter(3, 3).pad(1).stride(2)>();
    check_phases<fk::filter(5, 2).pad(1, 0, 2, 1).stride(3, 1).dilation(1, 3)>();
    check_phases<fk::filter(3, 4).pad(7, 2).stride(4, 4).dilation(6, 3)>();
    check_phases<fk::filter(2, 3, 3).pad(1, 0, 1).stride(2, 1, 3)>();
    CHECK(fk::hip::ConvPhases<fk::TransposedConv<fk::filter(9).stride(17)>>::count == 0);
}

TEST_CASE("HIP: a phase's tiles cover its pixels of y") {
    using Phases = fk::hip::ConvPhases<fk::TransposedConv<fk::filter(3, 3).stride(2)>>;
    CHECK(Phases::tiles({{2, 8, 5, 6}}, {}, 4) == 5 + 5 + 3 + 3);  // 3 x 3 pixels per image, twice, and 2 x 3
    CHECK(Phases::tiles({{1, 8, 1, 1}}, {}, 64) == 1);
}

TEST_CASE("HIP: phases skip the zeros that a stride inserts into x") {
    fk::hip::Device device = gpu();
    float const inf = std::numeric_limits<float>::infinity();
    auto const x = fk::tensor<float>(device, fk::nchw(1, 1, 2, 2), {1, 2, 3, 4}),
               w = fk::tensor<float>(device, fk::kcrs(1, 1, 1, 1), {inf});
    auto const y = fk::Plan<fk::TransposedConv<fk::filter(1, 1).stride(2)>>::bind({.weights = w})(device, x);
    std::vector<float> got(9);
    y.copy_to(got.data());
    CHECK(got == std::vector<float>{inf, 0, inf, 0, 0, 0, inf, 0, inf});
}
