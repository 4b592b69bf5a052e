// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "fusekit/tensor/view.hpp"

namespace test {

/// Numbers of a channel's values that are 0.1 and 0.3: the sums are known, and float rounds most partial sums in the
/// same direction.
struct Split {
    double small = 0, large = 0;

    double count() const { return small + large; }
    /// Sum of f(value).
    double sum(auto const& f) const { return small * f(double{0.1f}) + large * f(double{0.3f}); }
    double mean() const {
        return sum([](double value) { return value; }) / count();
    }
    double variance() const {
        return sum([&](double value) { return (value - mean()) * (value - mean()); }) / count();
    }
};

/// Channels of 0.1 and 0.3, with NaN in the memory between elements: in random order, or 0.1 in an image's first pixels
/// and 0.3 in all others.
struct LongChannels {
    fusekit::Layout<4> layout;
    std::vector<float> memory = std::vector<float>(static_cast<std::size_t>(layout.span()), NAN);
    std::vector<Split> channels = std::vector<Split>(static_cast<std::size_t>(layout.shape[1]));

    explicit LongChannels(fusekit::Layout<4> const& layout, std::int64_t first = 0) : layout(layout) {
        std::uint32_t bits = 1;
        for (std::int64_t n = 0; n < layout.shape[0]; ++n)
            for (std::int64_t p = 0; p < layout.shape[2]; ++p)
                for (std::int64_t q = 0; q < layout.shape[3]; ++q)
                    for (std::int64_t k = 0; k < layout.shape[1]; ++k) {
                        bits = bits * 1664525 + 1013904223;
                        bool const large = first > 0 ? p * layout.shape[3] + q >= first : bits >> 31 != 0;
                        memory[static_cast<std::size_t>(layout.offset({{n, k, p, q}}))] = large ? 0.3f : 0.1f;
                        auto& of = channels[static_cast<std::size_t>(k)];
                        (large ? of.large : of.small) += 1;
                    }
    }
    fusekit::TensorView<float const> view() const { return {memory.data(), layout}; }
};

/// Relative error bound of a sum of `count` values: half an ulp per addition or merge of a value, `in_a_row` sequential
/// ones plus log2 of the number of such sums; and 8 for products, quotients and the deviations that moments sum.
inline double rounded_share(double count, double in_a_row, double half_ulp = 0x1p-24) {
    return (in_a_row + std::log2(count) + 8) * half_ulp;
}

inline void check_near(double value, double expected, double within) {
    INFO(value << " is off by " << value - expected << ", more than " << within);
    CHECK(std::fabs(value - expected) <= within);
}

/// Checks mean and variance: squared deviations, below 0.2^2, average at most 0.04; the relative error is that of their
/// sum, plus the contribution of the partial means.
inline void check_statistics(double mean, double variance, Split const& expected, double share) {
    check_near(mean, expected.mean(), share * expected.mean());
    check_near(variance, expected.variance(), 3 * share * 0.04);
}

/// Checks the gradients of batch norm's scale and shift for dy = x, the saved mean and the inverse deviation.
inline void check_gradients(double scale, double shift, double mean, double inverse, Split const& of, double share) {
    auto const along = [&](double value) { return value * (value - mean) * inverse; };
    check_near(shift, of.count() * of.mean(), share * of.count() * of.mean());
    check_near(scale, of.sum(along), share * of.sum([&](double value) { return std::fabs(along(value)); }));
}

}  // namespace test
