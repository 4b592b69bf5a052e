// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/depthwise.hpp"

#include "support/host_loops.hpp"

using namespace test;
using fk::detail::Axis, fk::host::lanes;

namespace {

template <Axis axis>
constexpr auto loop = [](auto const& problem, auto const& args, auto const& y) {
    return fk::host::Depthwise<LoopCase::Epilogue, float, float, 2, axis>(problem, args, y);
};

}  // namespace

TEST_CASE("depthwise: vectors that are full, one short and one over, with lanes along channels and along pixels") {
    oracle::Window const skewed{
        .r = 2, .s = 5, .top = 3, .left = 3, .bottom = 3, .right = 3, .u = 2, .v = 3, .groups = 7};
    for (int const count : {2, lanes - 1, lanes, lanes + 1, 3 * lanes + 2}) {
        oracle::Window const window{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1, .groups = count};
        oracle::Shape const many_channels{2, count, 5, 6}, many_pixels{1, 7, 4, count + 2};
        INFO(count);
        for (char const* x : {"nhwc", "nchw"}) {
            CHECK(difference_of_loop({many_channels, count, window, x, "nchw", "nhwc"}, 2, loop<Axis::channel>) == "");
            CHECK(difference_of_loop({many_channels, count, window, x, "nchw", "nchw"}, 2, loop<Axis::pixel>) == "");
            CHECK(difference_of_loop({many_pixels, 7, skewed, x, "nchw", "nhwc"}, 1, loop<Axis::channel>) == "");
            CHECK(difference_of_loop({many_pixels, 7, skewed, x, "nchw", "nchw"}, 1, loop<Axis::pixel>) == "");
        }
    }
}
