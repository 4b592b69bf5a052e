// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/few_pixels.hpp"

#include <limits>

#include "support/host_loops.hpp"

using namespace test;
using fk::host::lanes;

namespace {

constexpr auto few_pixels = [](int threads) {
    return [threads](auto const& problem, auto const& args, auto const& y) {
        fk::host::FewPixels<LoopCase::Epilogue, float, float, 2> const loop(threads, problem, args, y);
        CHECK(loop.fits());
        return loop;
    };
};

}  // namespace

TEST_CASE("few pixels: rows and filters that fill vectors, are one short and one over") {
    for (int const c : {1, 3, lanes - 1, lanes, lanes + 1, 5 * lanes + 2})
        for (int const k : {1, lanes - 1, lanes, 3 * lanes + 1})
            for (int const n : {1, 3}) {
                INFO(c << " channels to " << k << ", batch " << n);
                for (char const* layout : {"nhwc", "nchw"})
                    CHECK(difference_of_loop({{n, c, 1, 1}, k, {}, layout, layout, layout}, 2, few_pixels(2)) == "");
                CHECK(difference_of_loop({{n, c, 2, 2}, k, {.r = 2, .s = 2}, "nchw", "nhwc", "nchw"}, 1,
                                         few_pixels(1)) == "");
            }
}

TEST_CASE("few pixels: groups, padding, several threads' items") {
    CHECK(difference_of_loop({{1, 3 * 5, 2, 3},
                              3 * 11,
                              {.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1, .groups = 3},
                              "nhwc",
                              "nhwc",
                              "nhwc"},
                             3, few_pixels(3)) == "");
    CHECK(difference_of_loop({{2, 1030, 1, 1}, 300, {}, "nhwc", "nhwc", "nhwc"}, 3, few_pixels(3)) == "");
}

TEST_CASE("few pixels: an infinity in a filter reaches only that filter's output") {
    fk::host::Device device(1);
    int const channels = lanes + 3, filters = 2 * lanes;
    fk::Tensor<float, fk::host::Device> x(device, fk::nhwc(1, 1, 1, channels)),
        w(device, fk::krsc(filters, 1, 1, channels));
    std::vector<float> values(static_cast<std::size_t>(channels), 1.0f),
        weights(static_cast<std::size_t>(channels * filters), 1.0f);
    weights[static_cast<std::size_t>(5 * channels + 2)] = std::numeric_limits<float>::infinity();
    x.copy_from(values.data()), w.copy_from(weights.data());
    auto const y = fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = w})(device, x);
    std::vector<float> results(static_cast<std::size_t>(filters));
    y.copy_to(results.data());
    for (int k = 0; k < filters; ++k)
        CHECK(results[static_cast<std::size_t>(k)] ==
              (k == 5 ? std::numeric_limits<float>::infinity() : static_cast<float>(channels)));
}
