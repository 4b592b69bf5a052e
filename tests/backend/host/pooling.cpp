// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/pooling.hpp"

#include "support/host_loops.hpp"

using namespace test;
using fk::host::lanes;

namespace {

/// Difference of a plan of Bias and a pool from its definition.
template <class Pool>
std::string wrong(char const* x_layout, char const* y_layout, oracle::Shape const& shape,
                  oracle::Window const& window) {
    using Plan = fk::Plan<fk::Bias, Pool>;
    using Device = fk::host::Device;
    Device device(1);
    Filled<float, Device, 4> x(device, x_layout, shape, integers(shape.size(), -3, 3, 1));
    auto const bias = integers(shape.c, -3, 3, 2);
    Placed<Device, 1> b(device, fk::DataType::float32, fk::channels(shape.c), bias);
    oracle::Tensor const expected = oracle::pool(oracle::bias(oracle::Tensor(shape, x.values), bias),
                                                 std::is_same_v<typename Pool::Reduce, fk::Max>, window);
    Placed<Device, 4> y(device, fk::DataType::float32, layout_of<4>(y_layout, expected.shape), 64);
    typename Plan::Epilogue::Args const args{{{b.template view<float const>()}}, {}};
    run_loop(fk::host::Pooling<Plan, float, float>(2, args, x.view(), y.template view<float>()), 2);
    return difference(expected, y.fetch());
}
template <class Pool>
std::string wrong(char const* x_layout, char const* y_layout, oracle::Shape const& shape, std::int64_t rows,
                  std::int64_t columns) {
    return wrong<Pool>(x_layout, y_layout, shape, {.r = rows, .s = columns, .u = rows, .v = columns});
}

}  // namespace

TEST_CASE("pools of 2 x 2 and of whole planes, of vectors that are full, one short and one over") {
    for (std::int64_t const count : {1, lanes - 1, lanes, lanes + 1, 2 * lanes + 3})
        for (char const* y : {"nhwc", "nchw"}) {
            INFO(count << ' ' << y);
            CHECK(wrong<fk::Pool<fk::Max, 2, 2>>("nhwc", y, {2, count, 4, 6}, 2, 2) == "");
            CHECK(wrong<fk::Pool<fk::Average, 2, 2>>("nhwc", y, {2, count, 4, 6}, 2, 2) == "");
            CHECK(wrong<fk::Pool<fk::Max, 2, 2>>("nchw", y, {2, 3, 4, 2 * count}, 2, 2) == "");
            CHECK(wrong<fk::Pool<fk::Average, 2, 2>>("nchw", y, {2, 3, 4, 2 * count}, 2, 2) == "");
            CHECK(wrong<fk::GlobalAverage>("nhwc", y, {2, count, 3, 5}, 3, 5) == "");
            CHECK(wrong<fk::GlobalAverage>("nchw", y, {2, 3, 5, count}, 5, count) == "");
            using Overlapping = fk::Pool<fk::Average, fk::filter(3, 4).stride(1, 2).pad(1, 3, 2, 0)>;
            oracle::Window const window{.r = 3, .s = 4, .top = 1, .left = 3, .bottom = 2, .right = 0, .u = 1, .v = 2};
            CHECK(wrong<Overlapping>("nhwc", y, {2, count, 4, 5}, window) == "");
            CHECK(wrong<Overlapping>("nchw", y, {2, 3, 4, count}, window) == "");
        }
}
