// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/persistent_weight_gradient.hpp"

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/one_gradient.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "support/half_types.hpp"
#include "support/weight_gradients.hpp"

using namespace test;
using fusekit::hip::PersistentWeights;

namespace {

template <class Schedule>
struct PersistentGradient {
    static auto prepare(fk::hip::Gpu const& gpu, auto const& params, std::size_t) {
        return fk::hip::launch_persistent_weight_gradient<Schedule>(gpu, params);
    }
};

}  // namespace

// More tiles than CTAs, tiles partly and wholly out of bounds, k-tiles partly out of bounds, several k-tiles; strides
// of dw and x larger than their channels; a bias gradient, which the oracle's check always requests.
TEMPLATE_LIST_TEST_CASE("HIP: weight gradients over few pixels agree with the oracle", "", HalfTypes) {
    fk::hip::Device device = sm90a_device();
    OneGradient<PersistentGradient<PersistentWeights<128, 128, 32, 3, 2>>> wide(device);
    OneGradient<PersistentGradient<PersistentWeights<64, 64, 32, 4, 2>>> narrow(device);
    constexpr auto one = fk::filter(1, 1);
    check_weight_gradient<TestType, one>(wide, {{32, 136, 1, 1}, 264, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<TestType, one>(wide, {{35, 72, 1, 1}, 24, "nhwc+8", "nhwc", "nhwc+8"});
    check_weight_gradient<TestType, one>(narrow, {{5, 8, 1, 1}, 1000, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<TestType, one>(narrow, {{2, 200, 3, 33}, 328, "nhwc", "nhwc", "nhwc"});
}

TEST_CASE("HIP: weight gradients over few pixels are persistent") {
    using fk::hip::WeightProduct, fk::hip::persistent_cycles;
    constexpr fk::hip::WeightCosts const& costs = fk::hip::NvidiaTuning::costs.weights;
    using Wide = PersistentWeights<128, 128, 32, 6, 2>;
    using Narrow = PersistentWeights<64, 64, 32, 4, 4>;
    auto const product = [](std::int64_t k, std::int64_t c, std::int64_t pixels) {
        return WeightProduct{k, c / 64, pixels, false, 2 * (k * c + pixels * (k + c))};
    };
    auto const bulk = [&](WeightProduct const& of) {
        return fk::hip::share_pixels<fk::hip::BulkWeights<128, 64, 64, 8>>(of, {132, 8, 0}, costs).cycles;
    };
    for (WeightProduct const& of : {product(4096, 25088, 32), product(11008, 4096, 32), product(1024, 1024, 64)})
        CHECK((std::min)(persistent_cycles<Wide>(of, 132, costs), persistent_cycles<Narrow>(of, 132, costs)) <
              bulk(of));
    CHECK(persistent_cycles<Wide>(product(4096, 4096, 32), 132, costs) <
          persistent_cycles<Narrow>(product(4096, 4096, 32), 132, costs));
    CHECK(persistent_cycles<Narrow>(product(1024, 1024, 32), 132, costs) <
          persistent_cycles<Wide>(product(1024, 1024, 32), 132, costs));
    // k-tiles of a single CTA wait for memory one after the other
    for (WeightProduct const& of : {product(192, 672, 1568), product(960, 160, 1568)})
        CHECK((std::min)(persistent_cycles<Wide>(of, 132, costs), persistent_cycles<Narrow>(of, 132, costs)) >
              bulk(of));
    CHECK(persistent_cycles<Wide>(product(256, 256, 4097), 132, costs) == fk::hip::WeightShares::never);
    WeightProduct const several_taps{256, 9, 32, true}, odd_channels{256, 4, 32, false, 0, 0, 2};
    CHECK(persistent_cycles<Wide>(several_taps, 132, costs) == fk::hip::WeightShares::never);
    CHECK(persistent_cycles<Wide>(odd_channels, 132, costs) == fk::hip::WeightShares::never);
}
