// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/pointwise.hpp"

#include "support/host_loops.hpp"

using namespace test;
using fk::host::lanes;

namespace {

/// Difference of y = x + bias + 2 z from its definition. z has y's layout.
std::string wrong(char const* x_layout, char const* y_layout, oracle::Shape const& shape, int threads) {
    using Epilogue = fk::detail::Epilogue<fk::Bias, fk::Residual>;
    using Device = fk::host::Device;
    Device device(1);
    Filled<float, Device, 4> x(device, x_layout, shape, integers(shape.size(), -3, 3, 1)),
        z(device, y_layout, shape, integers(shape.size(), -3, 3, 3));
    auto const bias = integers(shape.c, -3, 3, 2);
    Placed<Device, 1> b(device, fk::DataType::float32, fk::channels(shape.c), bias);
    Placed<Device, 4> y(device, fk::DataType::float32, layout_of<4>(y_layout, shape), 64);
    Epilogue::Args const args{{{b.view<float const>()}}, {{.z = z.view(), .alpha2 = 2}}};
    run_loop(fk::host::Pointwise<Epilogue, float, float>(x.view(), y.view<float>(), args), threads);
    return difference(oracle::residual(oracle::bias(oracle::Tensor(shape, x.values), bias), z.values, 2), y.fetch());
}

}  // namespace

TEST_CASE("pointwise: lines of every length, along channels and along pixels") {
    for (std::int64_t const count : {1, 2, lanes - 1, lanes, lanes + 1, 4 * lanes - 1, 4 * lanes + 3}) {
        INFO(count);
        CHECK(wrong("nchw", "nchw", {2, 3, 1, count}, 1) == "");
        CHECK(wrong("nhwc", "nhwc", {2, count, 2, 3}, 2) == "");
        CHECK(wrong("nhwc", "nchw", {2, 3, 2, count}, 2) == "");
        CHECK(wrong("nchw", "nhwc", {2, count, 2, 3}, 1) == "");
    }
}

TEST_CASE("pointwise: planes with gaps, and elements apart") {
    for (char const* x : {"nchw", "nchw+6", "nchw+6*2"})
        for (char const* y : {"nchw", "nchw+6", "nchw+6*2"}) {
            INFO(x << ' ' << y);
            CHECK(wrong(x, y, {2, 3, 5, 2 * lanes + 1}, 3) == "");
        }
}

TEST_CASE("pointwise: more channels than an item prepares, and more rows than one takes") {
    CHECK(wrong("nchw", "nchw", {1, 300, 1, 5}, 2) == "");
    CHECK(wrong("nhwc", "nhwc", {3, 9, 40, 40}, 3) == "");
    CHECK(wrong("nchw", "nchw", {3, 9, 40, 40}, 3) == "");
}
