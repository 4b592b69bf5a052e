// SPDX-License-Identifier: MIT
#include "backend/hip/large/buffers.hpp"

#include <vector>

using namespace test;

TEST_CASE("HIP: weight gradients over 2^32 elements and 2^30 pixels are exact") {
    Buffers of;
    for (fk::Layout<4> const& layout : layouts_of(of)) {
        INFO(fk::to_string(layout.shape) << ", strides " << fk::to_string(layout.stride));
        std::int64_t const channels = layout.shape[1];
        auto const in = of.input(layout), out = of.zeros(layout);
        Sparse const x(of.device, in, 1), dy(of.device, out, 3);
        std::vector<float> expected(static_cast<std::size_t>(channels * channels * 9)), got(expected.size(), -77);
        fk::Tensor<float, fk::hip::Device> dw(of.device, fk::kcrs(channels, channels, 3, 3));
        dw.copy_from(got.data());
        fk::Plan<fk::ConvWeightGradient<fk::filter(3, 3).pad(1)>>::bind({.dy = out})(of.device, in, dw);
        dw.copy_to(got.data());
        dy.each([&](auto const& at, int value) {
            auto const& [n, k, p, q] = at;
            for (std::int64_t c = 0; c < channels; ++c)
                for (std::int64_t r = 0; r < 3; ++r)
                    for (std::int64_t s = 0; s < 3; ++s)
                        expected[static_cast<std::size_t>(((k * channels + c) * 3 + r) * 3 + s)] +=
                            static_cast<float>(value * x(n, c, p + r - 1, q + s - 1));
        });
        CHECK((got == expected));
    }
}
