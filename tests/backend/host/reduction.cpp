// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/reduction.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <fusekit/fusekit.hpp>
#include <vector>

namespace fk = fusekit;

namespace {

/// Of each channel's values, so many are 0.1 and so many 0.3, so that sums are known; and float rounds most partial
/// sums to the same side.
struct Split {
    double small = 0, large = 0;

    double count() const { return small + large; }
    /// The sum of f(value).
    double sum(auto const& f) const { return small * f(double{0.1f}) + large * f(double{0.3f}); }
    double mean() const {
        return sum([](double value) { return value; }) / count();
    }
    double variance() const {
        return sum([&](double value) { return (value - mean()) * (value - mean()); }) / count();
    }
};

/// Such values by chance, in memory that is NaN between them.
struct Input {
    fk::Layout<4> layout;
    std::vector<float> memory = std::vector<float>(static_cast<std::size_t>(layout.span()), NAN);
    std::vector<Split> channels = std::vector<Split>(static_cast<std::size_t>(layout.shape[1]));

    explicit Input(fk::Layout<4> const& layout) : layout(layout) {
        std::uint32_t bits = 1;
        for (std::int64_t n = 0; n < layout.shape[0]; ++n)
            for (std::int64_t p = 0; p < layout.shape[2]; ++p)
                for (std::int64_t q = 0; q < layout.shape[3]; ++q)
                    for (std::int64_t k = 0; k < layout.shape[1]; ++k) {
                        bits = bits * 1664525 + 1013904223;
                        bool const large = bits >> 31;
                        memory[static_cast<std::size_t>(layout.offset({{n, k, p, q}}))] = large ? 0.3f : 0.1f;
                        auto& of = channels[static_cast<std::size_t>(k)];
                        (large ? of.large : of.small) += 1;
                    }
    }
    fk::TensorView<float const> view() const { return {memory.data(), layout}; }
};

template <class T>
fk::TensorView<T, 1> vector(std::vector<T>& of) {
    return {of.data(), fk::channels(static_cast<std::int64_t>(of.size()))};
}

/// How far a sum of `count` values may be off, as a share of their magnitudes: half an ulp for each addition or merge
/// that a value takes part in, 64 one after another and then the log of how many such sums there are; and 8 more for
/// products, quotients and the distances that moments are summed from.
double share(double count, double half_ulp = 0x1p-24) { return (64 + std::log2(count) + 8) * half_ulp; }

void check_near(double value, double expected, double within) {
    INFO(value << " is off by " << value - expected << ", more than " << within);
    CHECK(std::fabs(value - expected) <= within);
}

/// A mean, and a variance: the squares of distances below 0.2 average 0.04 at most, and the share is of their sum, and
/// of what the parts' means add to it.
void check_statistics(double mean, double variance, Split const& expected) {
    check_near(mean, expected.mean(), share(expected.count()) * expected.mean());
    check_near(variance, expected.variance(), 3 * share(expected.count()) * 0.04);
}

/// Ten million values to a channel and more: rows that fill no vector, with gaps between them; planes without gaps;
/// channels that neighbour.
fk::Layout<4> const long_layouts[] = {
    {{{16, 1, 90000, 7}}, {{90000 * 9, 90000 * 9, 9, 1}}}, fk::nchw(4, 1, 1600, 1601), fk::nhwc(4, 1600, 1600, 2)};

}  // namespace

TEST_CASE("batch norm and its gradients are of sums whose errors do not grow with ten million values") {
    fk::host::Device device(2);
    for (fk::Layout<4> const& layout : long_layouts) {
        INFO(to_string(layout.shape));
        Input const x(layout);
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
            check_statistics(double{mean[k]}, 1 / (double{inverse[k]} * double{inverse[k]}) - double{1e-5f}, of);
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
            auto const along = [&](double value) { return value * (value - double{mean[k]}) * double{inverse[k]}; };
            check_near(double{dshift[k]}, of.count() * of.mean(), share(of.count()) * of.count() * of.mean());
            check_near(double{dscale[k]}, of.sum(along),
                       share(of.count()) * of.sum([&](double value) { return std::fabs(along(value)); }));
        }
    }
}

TEST_CASE("statistics of ten million values, of a tensor or after a convolution, do not drift") {
    fk::host::Device device(2);
    for (fk::Layout<4> const& layout : long_layouts) {
        INFO(to_string(layout.shape));
        Input const x(layout);
        std::size_t const size = x.channels.size();
        std::vector<float> out(x.memory.size(), NAN), mean(size), variance(size), weights(size * size),
            scratch(static_cast<std::size_t>(fk::ChannelStatistics::scratch(layout.shape)), NAN);
        fk::TensorView<float> const y(out.data(), layout);
        auto const check = [&] {
            for (std::size_t k = 0; k < size; ++k)
                check_statistics(double{mean[k]}, double{variance[k]}, x.channels[k]);
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

TEST_CASE("a global average of ten million values does not drift") {
    fk::host::Device device(2);
    for (fk::Layout<4> const& layout : {fk::Layout<4>{{{1, 1, 1440000, 7}}, {{0, 0, 9, 1}}}, fk::nchw(1, 1, 3200, 3201),
                                        fk::nhwc(1, 3200, 3200, 2)}) {
        INFO(to_string(layout.shape));
        Input const x(layout);
        std::vector<float> y(x.channels.size());
        fk::TensorView<float> const to(y.data(), fk::nchw(1, layout.shape[1], 1, 1));
        fk::Plan<fk::GlobalAverage>::bind({})(device, x.view(), to);
        for (std::size_t k = 0; k < y.size(); ++k)
            check_near(double{y[k]}, x.channels[k].mean(), share(x.channels[k].count()) * x.channels[k].mean());
    }
}

TEST_CASE("sums in double do not drift either") {
    fk::host::Device device(2);
    fk::Layout<4> const layout = fk::nchw(1, 1, 1024, 2049);
    std::vector<double> const x(static_cast<std::size_t>(layout.size()), 0.1);
    double y = 0;
    fk::Plan<fk::GlobalAverage>::bind({})(device, fk::TensorView<double const>(x.data(), layout),
                                          fk::TensorView<double>(&y, fk::nchw(1, 1, 1, 1)));
    check_near(y, 0.1, share(static_cast<double>(layout.size()), 0x1p-53) * 0.1);
}
