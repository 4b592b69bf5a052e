// SPDX-License-Identifier: MIT
// Tests of tests/backend/host/reduction.cpp with fewer values: kernels run on the CPU here.
#include "fusekit/backend/hip/mainloop/reduction.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "backend/hip/gpu.hpp"
#include "support/effort.hpp"
#include "support/long_channels.hpp"

using namespace test;

namespace {

/// Error bound: a thread adds 1024 values in sequence, and at most 64 totals of CTAs.
double share(double count) { return rounded_share(count, 1024 + 64); }

std::vector<float> fetched(auto const& tensor) {
    std::vector<float> values(static_cast<std::size_t>(tensor.layout().span()));
    tensor.copy_to(values.data());
    return values;
}

/// Checks statistics and gradients of long channels.
template <class Schedule>
void check_batch_norm(fk::hip::Device& device, fk::Layout<4> const& layout, std::int64_t first) {
    auto scheduled = device.with<Schedule>();
    INFO(to_string(layout.shape) << ", of 0.1 first: " << first);
    LongChannels const from(layout, first);
    Floats x(device, layout), dx(device, layout);
    x.copy_from(from.memory.data());
    dx.copy_from(std::vector<float>(from.memory.size(), NAN).data());
    auto const channels = [&](float value) {
        fk::Tensor<float, fk::hip::Device, 1> of(device, fk::channels(layout.shape[1]));
        of.copy_from(std::vector<float>(from.channels.size(), value).data());
        return of;
    };
    auto const ones = channels(1), zeros = channels(0);
    auto mean = channels(NAN), inverse = channels(NAN), scale = channels(NAN), shift = channels(NAN);
    using Plan = fk::Plan<fk::BatchNormTraining<fk::Spatial>>;
    auto const layer =
        Plan::bind({.scale = ones, .shift = zeros, .saved_mean = mean, .saved_inverse_deviation = inverse});
    layer(scheduled, x, dx);
    fk::Backward<Plan>::bind(layer, x, {.scale = scale, .shift = shift})(scheduled, x, dx);
    auto const inverses = fetched(inverse), means = fetched(mean), scales = fetched(scale), shifts = fetched(shift);
    for (std::size_t k = 0; k < means.size(); ++k) {
        Split const& of = from.channels[k];
        double const m = double{means[k]}, i = double{inverses[k]};
        check_statistics(m, 1 / (i * i) - double{1e-5f}, of, share(of.count()));
        check_gradients(double{scales[k]}, double{shifts[k]}, m, i, of, share(of.count()));
    }
}

}  // namespace

TEST_CASE("HIP: sums of many values per thread, and gradients, do not lose accuracy") {
    fk::hip::Device device = gpu();
    // CTAs so small and few that a thread adds at least 8192 values to a total.
    using Planes = fk::hip::Reduction<64, 16, 2, 1>;
    using Columns = fk::hip::Reduction<64, 8, 2, 1>;
    std::int64_t const times = fk::detail::divide_up(device.processors(), 4);
    for (std::int64_t const first : {0, 1024}) {  // moments are summed relative to a first value
        check_batch_norm<Planes>(device, fk::nchw(1, 1, times * 1024, 4097), first);
        check_batch_norm<Planes>(device, {{{1, 1, times * 600000, 7}}, {{0, 0, 9, 1}}}, first);
        check_batch_norm<Columns>(device, fk::nhwc(1, times * 2048, 1024, 2), first);
    }
}

TEST_CASE("HIP: a global average of millions of values does not lose accuracy") {
    fk::hip::Device device = gpu();
    for (fk::Layout<4> const& layout : {fk::nchw(1, 1, 1024 / emulated_part, 1025),
                                        fk::nhwc(1, 500000 / emulated_part, 1, 2),
                                        {{{1, 1, 150000 / emulated_part, 7}}, {{0, 0, 9, 1}}}}) {
        INFO(to_string(layout.shape));
        LongChannels const from(layout, 1);
        Floats x(device, layout);
        x.copy_from(from.memory.data());
        auto const y = fetched(fk::Plan<fk::GlobalAverage>::bind({})(device, x));
        for (std::size_t k = 0; k < y.size(); ++k)
            check_near(double{y[k]}, from.channels[k].mean(),
                       share(from.channels[k].count()) * from.channels[k].mean());
    }
}
