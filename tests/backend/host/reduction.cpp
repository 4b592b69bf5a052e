// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/reduction.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <fusekit/fusekit.hpp>
#include <vector>

#include "support/long_channels.hpp"

namespace fk = fusekit;
using namespace test;

namespace {

template <class T>
fk::TensorView<T, 1> vector(std::vector<T>& of) {
    return {of.data(), fk::channels(static_cast<std::int64_t>(of.size()))};
}

double share(double count, double half_ulp = 0x1p-24) { return rounded_share(count, 64, half_ulp); }

/// At least ten million values per channel: rows with a tail and gaps between rows; dense planes; contiguous channels.
fk::Layout<4> const long_layouts[] = {
    {{{16, 1, 90000, 7}}, {{90000 * 9, 90000 * 9, 9, 1}}}, fk::nchw(4, 1, 1600, 1601), fk::nhwc(4, 1600, 1600, 2)};

}  // namespace

TEST_CASE("errors of batch norm and its gradients do not grow with ten million values") {
    fk::host::Device device(2);
    for (fk::Layout<4> const& layout : long_layouts) {
        INFO(to_string(layout.shape));
        LongChannels const x(layout);
        std::size_t const size = x.channels.size();
        std::vector<float> out(x.memory.size(), NAN), ones(size, 1), zeros(size), mean(size), inverse(size),
            dscale(size), dshift(size);
        fk::TensorView<float> const y(out.data(), layout);
        using Plan = fk::Plan<fk::BatchNormTraining<fk::Spatial>>;
        auto const layer = Plan::bind({.scale = vector(ones),
                                       .shift = vector(zeros),
                                       .saved_mean = vector(mean),
                                       .saved_inverse_deviation = vector(inverse)});
        layer(device, x.view(), y);
        for (std::size_t k = 0; k < size; ++k) {
            Split const& of = x.channels[k];
            check_statistics(double{mean[k]}, 1 / (double{inverse[k]} * double{inverse[k]}) - double{1e-5f}, of,
                             share(of.count()));
            auto const channel = static_cast<std::int64_t>(k);
            check_near(double{y(0, channel, 0, 0)},
                       (double{x.view()(0, channel, 0, 0)} - of.mean()) * double{inverse[k]},
                       share(of.count()) * of.mean() * double{inverse[k]});
        }
        // dy = x
        fk::Backward<Plan>::bind(layer, x.view(), {.scale = vector(dscale), .shift = vector(dshift)})(device, x.view(),
                                                                                                      y);
        for (std::size_t k = 0; k < size; ++k) {
            Split const& of = x.channels[k];
            check_gradients(double{dscale[k]}, double{dshift[k]}, double{mean[k]}, double{inverse[k]}, of,
                            share(of.count()));
        }
    }
}

TEST_CASE("statistics of ten million values, of a tensor or after a convolution, do not lose accuracy") {
    fk::host::Device device(2);
    for (fk::Layout<4> const& layout : long_layouts) {
        INFO(to_string(layout.shape));
        LongChannels const x(layout);
        std::size_t const size = x.channels.size();
        std::vector<float> out(x.memory.size(), NAN), mean(size), variance(size), weights(size * size),
            scratch(static_cast<std::size_t>(fk::ChannelStatistics::scratch(layout.shape)), NAN);
        fk::TensorView<float> const y(out.data(), layout);
        auto const check = [&] {
            for (std::size_t k = 0; k < size; ++k)
                check_statistics(double{mean[k]}, double{variance[k]}, x.channels[k], share(x.channels[k].count()));
        };
        using Statistics = fk::Plan<fk::ChannelStatistics>;
        Statistics::bind({.mean = vector(mean), .variance = vector(variance)})(device, x.view(), y);
        check();
        for (std::size_t k = 0; k < size; ++k) weights[k * size + k] = 1;  // the identity
        fk::TensorView<float const> const filter(weights.data(), fk::kcrs(layout.shape[1], layout.shape[1], 1, 1));
        using Conv = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::ChannelStatistics>;
        Conv::bind({.weights = filter},
                   {.mean = vector(mean), .variance = vector(variance), .scratch = vector(scratch)})(device, x.view(),
                                                                                                     y);
        check();
    }
}

TEST_CASE("a global average of ten million values does not lose accuracy") {
    fk::host::Device device(2);
    for (fk::Layout<4> const& layout : {fk::Layout<4>{{{1, 1, 1440000, 7}}, {{0, 0, 9, 1}}}, fk::nchw(1, 1, 3200, 3201),
                                        fk::nhwc(1, 3200, 3200, 2)}) {
        INFO(to_string(layout.shape));
        LongChannels const x(layout);
        std::vector<float> y(x.channels.size());
        fk::TensorView<float> const to(y.data(), fk::nchw(1, layout.shape[1], 1, 1));
        fk::Plan<fk::GlobalAverage>::bind({})(device, x.view(), to);
        for (std::size_t k = 0; k < y.size(); ++k)
            check_near(double{y[k]}, x.channels[k].mean(), share(x.channels[k].count()) * x.channels[k].mean());
    }
}

TEST_CASE("sums in double do not lose accuracy") {
    fk::host::Device device(2);
    fk::Layout<4> const layout = fk::nchw(1, 1, 1024, 2049);
    std::vector<double> const x(static_cast<std::size_t>(layout.size()), 0.1);
    double y = 0;
    fk::Plan<fk::GlobalAverage>::bind({})(device, fk::TensorView<double const>(x.data(), layout),
                                          fk::TensorView<double>(&y, fk::nchw(1, 1, 1, 1)));
    check_near(y, 0.1, share(static_cast<double>(layout.size()), 0x1p-53) * 0.1);
}
