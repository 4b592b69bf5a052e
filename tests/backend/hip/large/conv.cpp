// SPDX-License-Identifier: MIT
#include "backend/hip/large/buffers.hpp"

using namespace test;

TEST_CASE("HIP: convolutions and data gradients of over 2^32 elements and 2^30 pixels are exact") {
    Buffers of;
    constexpr auto filter = fk::filter(3, 3).pad(1);
    for (fk::Layout<4> const& layout : layouts_of(of)) {
        INFO(fk::to_string(layout.shape) << ", strides " << fk::to_string(layout.stride));
        std::int64_t const channels = layout.shape[1];
        auto const w = weights(of.device, fk::channels_last(layout) ? fk::krsc(channels, 3, 3, channels)
                                                                    : fk::kcrs(channels, channels, 3, 3));
        auto const in = of.input(layout);
        Sparse const x(of.device, in, 1);
        auto const y = of.output(layout);
        auto const sum = [&](std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t q, bool transposed) {
            int sum = 0;
            for (std::int64_t c = 0; c < channels; ++c)
                for (std::int64_t r = 0; r < 3; ++r)
                    for (std::int64_t s = 0; s < 3; ++s)
                        sum += transposed ? x(n, c, p + 1 - r, q + 1 - s) * weight(c, k, r, s)
                                          : x(n, c, p + r - 1, q + s - 1) * weight(k, c, r, s);
            return sum;
        };
        fk::Plan<fk::Conv<filter>>::bind({.weights = w})(of.device, in, y);
        CHECK(wrong(of.device, y, [&](auto... at) { return sum(at..., false); }) == 0);
        of.output(layout);
        fk::Plan<fk::TransposedConv<filter>>::bind({.weights = w})(of.device, in, y);
        CHECK(wrong(of.device, y, [&](auto... at) { return sum(at..., true); }) == 0);
    }
}
