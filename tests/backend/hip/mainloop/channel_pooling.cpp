// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/channel_pooling.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/difference.hpp"
#include "support/filled.hpp"

using namespace test;

namespace {

/// Mean over pixels of |x + bias| of integers, whose sums are exact.
template <class T>
void check_mean(fk::hip::Device& device, std::string const& layout, oracle::Shape const& shape) {
    INFO(layout << ' ' << shape.n << 'x' << shape.c << 'x' << shape.h << 'x' << shape.w << ' '
                << fk::name(fk::data_type<T>));
    Filled<T, fk::hip::Device, 4> x(device, layout, shape, integers(shape.size(), -9, 9, 3));
    auto const bias = integers(shape.c, -3, 3, 4);
    Placed<fk::hip::Device, 1> given(device, fk::DataType::float32, fk::channels(shape.c), bias);
    oracle::Shape const of_y{shape.n, shape.c, 1, 1};
    Placed<fk::hip::Device, 4> y(device, fk::data_type<T>, layout_of<4>("nhwc", of_y), 64);
    fk::Plan<fk::Bias, fk::Activation<fk::Abs>, fk::GlobalAverage>::bind(
        {.bias = given.template view<float const>()}, {}, {})(device, x.view(), y.template view<T>());
    oracle::Tensor expected(of_y);
    std::int64_t const plane = shape.h * shape.w;
    for (std::int64_t i = 0; i < shape.n * shape.c; ++i) {
        double sum = 0;
        for (std::int64_t pixel = 0; pixel < plane; ++pixel)
            sum += std::fabs(x.values[static_cast<std::size_t>(i * plane + pixel)] +
                             bias[static_cast<std::size_t>(i % shape.c)]);
        double const mean = sum / static_cast<double>(plane);
        expected.at[static_cast<std::size_t>(i)] = {mean, 0x1p-23 * mean};  // a quotient, or a product and 1 / plane
    }
    CHECK(difference(expected, y.fetch()) == "");
}

}  // namespace

TEST_CASE("ChannelPooling: means of planes, of parts of a packet row and of pixels that a cluster shares") {
    fk::hip::Device device = gpu();
    check_mean<fk::half>(device, "nhwc", {2, 40, 3, 5});
    check_mean<fk::half>(device, "nhwc", {1, 16, 67, 71});
    check_mean<float>(device, "nhwc", {9, 68, 1, 7});
    check_mean<float>(device, "nhwc*2", {1, 12, 129, 130});
    check_mean<fk::half>(device, "nhwc", {1, 7, 3, 3});
}
