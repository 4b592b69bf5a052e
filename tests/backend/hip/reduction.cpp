// SPDX-License-Identifier: MIT
// What tests/backend/host/reduction.cpp tests on the host, of fewer values: kernels run on the CPU here.
#include "fusekit/backend/hip/reducing.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "backend/hip/gpu.hpp"

using namespace test;

namespace {

/// How far a sum may be off, as a share of its magnitude: half an ulp for each addition or merge that a value takes
/// part in. A thread adds 1024 one after another, and at most so many totals of blocks; parts and threads are in pairs;
/// and 8 more are for products, quotients and the distances that moments are summed from.
double share(double count) { return (1024 + 64 + std::log2(count) + 8) * 0x1p-24; }

void check_near(double value, double expected, double within) {
    INFO(value << " is off by " << value - expected << ", more than " << within);
    CHECK(std::fabs(value - expected) <= within);
}

std::vector<float> fetched(auto const& tensor) {
    std::vector<float> values(static_cast<std::size_t>(tensor.size()));
    tensor.copy_to(values.data());
    return values;
}

}  // namespace

TEST_CASE("HIP: sums of millions of values, and of their gradients, do not drift") {
    fk::hip::Device device = gpu();
    using Plan = fk::Plan<fk::BatchNormTraining<fk::Spatial>>;
    for (auto const& [from, to] : {std::pair{fk::nchw(1, 1, 2048, 2049), fk::nchw(1, 1, 2048, 2049)},
                                   {fk::nhwc(1, 1024, 1025, 4), fk::nhwc(1, 1024, 1025, 4)},
                                   {fk::nchw(1, 2, 1024, 1025), fk::nhwc(1, 1024, 1025, 2)}}) {
        INFO(to_string(from.shape));
        auto x = fk::random<float>(device, from), dx = fk::random<float>(device, from);
        std::vector<float> values(static_cast<std::size_t>(from.size()), 0.1f);
        for (std::size_t i = 0; i < values.size(); i += 2) values[i] = 0.3f;
        x.copy_from(values.data());
        auto const k = from.shape[1];
        auto const channels = [&](float value) {
            auto of = fk::random<float>(device, fk::channels(k));
            of.copy_from(std::vector<float>(static_cast<std::size_t>(k), value).data());
            return of;
        };
        auto const ones = channels(1), zeros = channels(0);
        auto mean = channels(NAN), inverse = channels(NAN), scale = channels(NAN), shift = channels(NAN);
        auto y = fk::random<float>(device, to);
        auto const layer =
            Plan::bind({.scale = ones, .shift = zeros, .saved_mean = mean, .saved_inverse_deviation = inverse});
        layer(device, x, y);
        fk::Backward<Plan>::bind(layer, x, {.scale = scale, .shift = shift})(device, x, dx);
        auto const inverses = fetched(inverse), means = fetched(mean), scales = fetched(scale), shifts = fetched(shift);
        for (std::int64_t channel = 0; channel < k; ++channel) {
            auto const c = static_cast<std::size_t>(channel);
            double small = 0, large = 0;
            for (std::int64_t p = 0; p < from.shape[2]; ++p)
                for (std::int64_t q = 0; q < from.shape[3]; ++q)
                    (values[static_cast<std::size_t>(from.offset({{0, channel, p, q}}))] > 0.2f ? large : small) += 1;
            double const count = small + large, sum = small * double{0.1f} + large * double{0.3f},
                         of_mean = sum / count;
            double const apart = double{0.3f} - double{0.1f},
                         variance = small / count * (large / count) * apart * apart;
            double const inverse_here = double{inverses[c]}, off = share(count);
            check_near(double{means[c]}, of_mean, off * of_mean);
            check_near(1 / (inverse_here * inverse_here) - double{1e-5f}, variance, 3 * off * 0.04);
            check_near(double{shifts[c]}, sum, off * sum);
            auto const along = [&](double value) { return value * (value - double{means[c]}) * inverse_here; };
            double const of_small = small * along(double{0.1f}), of_large = large * along(double{0.3f});
            check_near(double{scales[c]}, of_small + of_large, off * (std::fabs(of_small) + std::fabs(of_large)));
        }
    }
}

TEST_CASE("HIP: a global average of millions of values does not drift") {
    fk::hip::Device device = gpu();
    for (auto const& layout : {fk::nchw(1, 1, 1024, 2049), fk::nhwc(1, 1024, 1025, 2)}) {
        auto x = fk::random<float>(device, layout);
        x.copy_from(std::vector<float>(static_cast<std::size_t>(layout.size()), 0.1f).data());
        for (float const y : fetched(fk::Plan<fk::GlobalAverage>::bind({})(device, x)))
            check_near(double{y}, double{0.1f}, share(static_cast<double>(layout.size())) * 0.1);
    }
}
