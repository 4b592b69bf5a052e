// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "fusekit/tensor/view.hpp"

namespace test {

/// The numbers of a channel's values that are 0.1 and 0.3: sums are known, and float rounds most partial sums to the
/// same side.
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

/// Such values, in memory that is NaN between them: by chance, or small in an image's first pixels, so many, and large
/// in all others.
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

/// How far a sum of `count` values may be off, as a share of their magnitudes: half an ulp for each addition or merge
/// that a value takes part in, `in_a_row` one after another and then the log of how many such sums there are; and 8
/// more for products, quotients and the distances that moments are summed from.
inline double rounded_share(double count, double in_a_row, double half_ulp = 0x1p-24) {
    return (in_a_row + std::log2(count) + 8) * half_ulp;
}

inline void check_near(double value, double expected, double within) {
    INFO(value << " is off by " << value - expected << ", more than " << within);
    CHECK(std::fabs(value - expected) <= within);
}

/// A mean, and a variance: the squares of distances below 0.2 average 0.04 at most, and the share is of their sum, and
/// of what the parts' means add to it.
inline void check_statistics(double mean, double variance, Split const& expected, double share) {
    check_near(mean, expected.mean(), share * expected.mean());
    check_near(variance, expected.variance(), 3 * share * 0.04);
}

/// The gradients of batch norm's scale and shift where dy = x, of the saved mean and the inverse of the deviation.
inline void check_gradients(double scale, double shift, double mean, double inverse, Split const& of, double share) {
    auto const along = [&](double value) { return value * (value - mean) * inverse; };
    check_near(shift, of.count() * of.mean(), share * of.count() * of.mean());
    check_near(scale, of.sum(along), share * of.sum([&](double value) { return std::fabs(along(value)); }));
}

}  // namespace test
