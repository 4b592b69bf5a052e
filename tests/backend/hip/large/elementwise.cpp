// SPDX-License-Identifier: MIT
#include "backend/hip/large/buffers.hpp"

#include <algorithm>

using namespace test;

TEST_CASE("HIP: elementwise plans and pools of over 2^32 elements are exact") {
    Buffers of;
    std::int64_t const d = side();
    for (fk::Layout<4> const& layout : {fk::nhwc(1100, d, d, 4), fk::nchw(1100, 4, d, d)}) {
        INFO(fk::to_string(layout.stride));
        auto const in = of.input(layout);
        Sparse const x(of.device, in, 1);
        auto const bias = fk::tensor<float>(of.device, fk::channels(4), {-1, 0, 1, 2});
        auto y = of.output(layout);
        fk::Plan<fk::Bias, fk::Activation<fk::Relu>>::bind({.bias = bias}, {})(of.device, in, y);
        CHECK(wrong(of.device, y, [&](std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t q) {
                  return std::max<std::int64_t>(x(n, k, p, q) + k - 1, 0);
              }) == 0);
        fk::Layout<4> const row = fk::nchw(1, 1, 1, layout.size());  // all elements in one image
        fk::Plan<fk::Scale>::bind({.factor = -1})(of.device, View(in.data, row), View(of.output(layout).data, row));
        CHECK(wrong(of.device, y, [&](auto... at) { return -x(at...); }) == 0);
        y = of.output(layout);
        fk::Plan<fk::Pool<fk::Max, fk::filter(3, 3).pad(1)>>::bind({})(of.device, in, y);
        CHECK(wrong(of.device, y, [&](std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t q) {
                  int most = -9;
                  for (std::int64_t i = p - 1; i <= p + 1; ++i)
                      for (std::int64_t j = q - 1; j <= q + 1; ++j)
                          if (x.has(i, j)) most = std::max(most, x(n, k, i, j));
                  return most;
              }) == 0);
    }
}
