// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "support/bounded.hpp"
#include "support/format.hpp"
#include "support/oracle_modes.hpp"

/// What every operator computes, one after the other, in double, from its definition. Shares no code with the
/// library: tensors are dense std::vectors in N, C, D, H, W order, whatever the layout under test.
namespace test::oracle {

struct Shape {
    std::int64_t n, c, h, w;
    std::int64_t d = 1;  // slices of h x w
    std::int64_t size() const { return n * c * d * h * w; }
};

struct Window {
    std::int64_t r = 1, s = 1;                              // filter
    std::int64_t top = 0, left = 0, bottom = 0, right = 0;  // padding
    std::int64_t u = 1, v = 1;                              // stride
    std::int64_t d = 1, e = 1;                              // dilation
    std::int64_t groups = 1;
    std::int64_t t = 1, front = 0, back = 0, slice_stride = 1, slice_dilation = 1;  // the same of slices

    std::int64_t output_depth(std::int64_t d) const {
        return count(d + front + back, (t - 1) * slice_dilation + 1, slice_stride);
    }
    std::int64_t output_height(std::int64_t h) const { return count(h + top + bottom, (r - 1) * d + 1, u); }
    std::int64_t output_width(std::int64_t w) const { return count(w + left + right, (s - 1) * e + 1, v); }

private:
    /// How many windows of `reach` fit into `extent`, one every `step`.
    static std::int64_t count(std::int64_t extent, std::int64_t reach, std::int64_t step) {
        std::int64_t windows = 0;
        for (std::int64_t first = 0; first + reach <= extent; first += step) ++windows;
        return windows;
    }
};

struct Tensor {
    Shape shape;
    std::vector<Bounded> at;  // N x C x D x H x W

    explicit Tensor(Shape shape) : shape(shape), at(static_cast<std::size_t>(shape.size())) {}
    Tensor(Shape shape, std::vector<double> const& values) : Tensor(shape) {
        for (std::size_t i = 0; i < at.size(); ++i) at[i].value = values[i];
    }

    /// The element's channel, and its place in one image.
    std::size_t channel(std::size_t i) const { return i / (shape.d * shape.h * shape.w) % shape.c; }
    std::size_t place(std::size_t i) const { return i % (shape.c * shape.d * shape.h * shape.w); }

    /// y[i] = f(y[i], i)
    template <class F>
    Tensor each(F f) const {
        Tensor y = *this;
        for (std::size_t i = 0; i < at.size(); ++i) y.at[i] = f(at[i], i);
        return y;
    }
};

/// The largest power of two, 2^-12 at least, that all exact values are multiples of; 0 where there is none.
inline double unit_of(Tensor const& x) {
    for (double unit = 1; unit >= 0x1p-12; unit /= 2) {
        bool multiples = true;
        for (Bounded v : x.at) multiples = multiples && v.error == 0 && v.value == std::trunc(v.value / unit) * unit;
        if (multiples) return unit;
    }
    return 0;
}

/// Products of integers, and of multiples of 2^-n and integers, are summed without error in any order while the sum of
/// magnitudes is at most 2^24 units; any other sum of m products is within m half ulps of the sum of magnitudes (Higham
/// 2002, section 3.1), and carries the errors of x. Padding is zeros, which are multiplied and summed as all else.
inline Tensor conv(Tensor const& x, std::vector<double> const& weights, std::int64_t k, Window const& f) {
    Shape const in = x.shape;
    std::int64_t const group_c = in.c / f.groups, group_k = k / f.groups;
    Tensor y({in.n, k, f.output_height(in.h), f.output_width(in.w), f.output_depth(in.d)});
    double const unit = unit_of(x);
    bool integers = unit > 0;
    for (double v : weights) integers = integers && v == std::trunc(v);
    std::size_t out = 0;
    for (std::int64_t n = 0; n < in.n; ++n)
        for (std::int64_t channel = 0; channel < k; ++channel)
            for (std::int64_t o = 0; o < y.shape.d; ++o)
                for (std::int64_t p = 0; p < y.shape.h; ++p)
                    for (std::int64_t q = 0; q < y.shape.w; ++q, ++out) {
                        double sum = 0, magnitude = 0, carried = 0;
                        for (std::int64_t c = 0; c < group_c; ++c)
                            for (std::int64_t t = 0; t < f.t; ++t)
                                for (std::int64_t r = 0; r < f.r; ++r)
                                    for (std::int64_t s = 0; s < f.s; ++s) {
                                        std::int64_t const slice = o * f.slice_stride + t * f.slice_dilation - f.front;
                                        std::int64_t const row = p * f.u + r * f.d - f.top;
                                        std::int64_t const column = q * f.v + s * f.e - f.left;
                                        bool const inside = slice >= 0 && slice < in.d && row >= 0 && row < in.h &&
                                                            column >= 0 && column < in.w;
                                        std::int64_t const plane =
                                            (n * in.c + channel / group_k * group_c + c) * in.d + slice;
                                        std::int64_t const tap =
                                            (((channel * group_c + c) * f.t + t) * f.r + r) * f.s + s;
                                        Bounded const value =
                                            inside ? x.at[(plane * in.h + row) * in.w + column] : Bounded{};
                                        double const term = value.value * weights[tap];
                                        sum += term;
                                        magnitude += std::fabs(term);
                                        carried += value.error * std::fabs(weights[tap]);
                                    }
                        bool const exact = integers && magnitude <= 0x1p24 * unit;
                        double const rounding =
                            exact ? 0 : (group_c * f.t * f.r * f.s + 1) * Bounded::unit * (magnitude + carried);
                        y.at[out] = {sum, carried + rounding};
                    }
    return y;
}

inline Tensor bias(Tensor const& x, std::vector<double> const& b) {
    return x.each([&](Bounded v, std::size_t i) { return v + Bounded{b[x.channel(i)]}; });
}

struct Statistics {
    std::vector<double> mean, variance, scale, shift;
    double epsilon;
};

inline Bounded normalize(Bounded x, Statistics const& s, std::size_t i) {
    return (x - Bounded{s.mean[i]}) * (Bounded{s.scale[i]} / sqrt(Bounded{s.variance[i]} + Bounded{s.epsilon})) +
           Bounded{s.shift[i]};
}
inline Tensor batch_norm_spatial(Tensor const& x, Statistics const& s) {
    return x.each([&](Bounded v, std::size_t i) { return normalize(v, s, x.channel(i)); });
}
inline Tensor batch_norm_per_activation(Tensor const& x, Statistics const& s) {
    return x.each([&](Bounded v, std::size_t i) { return normalize(v, s, x.place(i)); });
}

inline Tensor residual(Tensor const& x, std::vector<double> const& z, double alpha2) {
    return x.each([&](Bounded v, std::size_t i) { return v + Bounded{alpha2} * Bounded{z[i]}; });
}

/// Sums that are exact integers, as the floats nearest to them.
inline Tensor exact_sums(Tensor const& x) {
    return x.each([](Bounded v, std::size_t) { return Bounded{static_cast<float>(v.value)}; });
}

/// As elements of a format: an exact value is rounded once, any other may be rounded to a neighbour.
inline Tensor elements(Tensor const& x, Format const& format) {
    return x.each([&](Bounded v, std::size_t) {
        return Bounded{format.round(v.value), v.error == 0 ? 0 : v.error + format.spacing(v.value)};
    });
}

inline Tensor requantize(Tensor const& x, std::vector<double> const& factors, double zero_point) {
    return x.each([&](Bounded v, std::size_t i) { return v * Bounded{factors[x.channel(i)]} + Bounded{zero_point}; });
}

inline Tensor scale(Tensor const& x, double factor) {
    return x.each([&](Bounded v, std::size_t) { return Bounded{factor} * v; });
}

inline Tensor activation(Tensor const& x, Mode const& mode) {
    return x.each([&](Bounded v, std::size_t) { return mode(v); });
}

/// One of every rows x columns of a plane: the largest, or the mean, whose sum is exact where it is of integers below
/// 2^24 together, and within their number of half ulps of the sum of magnitudes elsewhere.
inline Tensor pool(Tensor const& x, bool largest, std::int64_t rows, std::int64_t columns) {
    Shape const in = x.shape;
    Tensor y({in.n, in.c, in.d * in.h / rows, in.w / columns});
    std::size_t out = 0;
    for (std::int64_t plane = 0; plane < in.n * in.c; ++plane)
        for (std::int64_t p = 0; p < y.shape.h; ++p)
            for (std::int64_t q = 0; q < y.shape.w; ++q, ++out) {
                Bounded most{-1e300, 0}, sum{0, 0};
                double magnitude = 0;
                bool integers = true;
                for (std::int64_t r = 0; r < rows; ++r)
                    for (std::int64_t s = 0; s < columns; ++s) {
                        Bounded const v = x.at[(plane * in.d * in.h + p * rows + r) * in.w + q * columns + s];
                        if (v.value > most.value) most = v;
                        sum = {sum.value + v.value, sum.error + v.error};
                        magnitude += std::fabs(v.value) + v.error;
                        integers = integers && v.error == 0 && v.value == std::trunc(v.value);
                    }
                if (!integers || magnitude > 0x1p24) sum.error += rows * columns * Bounded::unit * magnitude;
                y.at[out] = largest ? most : sum / Bounded{static_cast<double>(rows * columns)};
            }
    return y;
}

}  // namespace test::oracle
