// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/window_pooling.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "backend/hip/blocks.hpp"
#include "support/resampled.hpp"

using namespace test;

TEST_CASE("HIP: Pool with a filter, one output per thread or a packet of channels, in every layout and type") {
    fk::hip::Device device = gpu();
    check_pooled_filters(device);
    check_pool_rules(device);
}

TEST_CASE("HIP: a NaN is the largest of every window of a filter that holds it, and of no other") {
    fk::hip::Device device = gpu();
    using Pool = fk::Pool<fk::Max, fk::filter(3, 3).stride(2).pad(1)>;
    for (bool const last : {false, true}) {
        auto const in = last ? fk::nhwc(1, 5, 5, 4) : fk::nchw(1, 4, 5, 5),
                   out = last ? fk::nhwc(1, 3, 3, 4) : fk::nchw(1, 4, 3, 3);
        std::vector<float> values(4 * 25, -1);
        for (int k = 0; k < 4; ++k)
            values[static_cast<std::size_t>(in.offset({{0, k, k, k}}))] = std::numeric_limits<float>::quiet_NaN();
        Array<float> const x(device, values), y(device, 4 * 9, 77);
        fk::Plan<Pool>::bind({})(device, fk::TensorView<float const>(x.data(), in),
                                 fk::TensorView<float>(y.data(), out));
        device.synchronize();
        std::vector<float> const got = y.values();
        for (int i = 0; i < 4 * 9; ++i) {
            int const k = i / 9, p = i / 3 % 3, q = i % 3;
            float const value = got[static_cast<std::size_t>(out.offset({{0, k, p, q}}))];
            auto const holds = [&](int index) { return k >= 2 * index - 1 && k <= 2 * index + 1; };
            CHECK((holds(p) && holds(q) ? std::isnan(value) : value == -1));
        }
    }
}
