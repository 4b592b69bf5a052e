// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/pool_store.hpp"

#include "backend/hip/epilogue/stored_tiles.hpp"

using namespace test;
using namespace test::store;

TEST_CASE("HIP: PoolStore pools 2x2 windows of accumulators of any atom") {
    fk::hip::Device device = gpu();
    // Pixels are numbered window by window: number m is pixel m % 4 of window m / 4.
    auto const most = [](int image, int channel, int row, int column) {
        int const window = (image * (p / 2) + row) * (q / 2) + column;
        float result = -1000;
        for (int pixel = 0; pixel < 4; ++pixel) {
            float const value = sum_at(4 * window + pixel, channel) + bias_of(channel);
            if (value > result) result = value;
        }
        return result;
    };
    fk::Layout<4> const nchw = fk::nchw(n, k, p / 2, q / 2), nhwc = fk::nhwc(n, p / 2, q / 2, k);
    CHECK(stored<Pooled, Axis::pixel>(device, nchw, fk::Pool<fk::Max, 2, 2>::Args{}) == expected_values(nchw, most));
    CHECK(stored<Pooled, Axis::channel>(device, nhwc, fk::Pool<fk::Max, 2, 2>::Args{}) == expected_values(nhwc, most));
}
