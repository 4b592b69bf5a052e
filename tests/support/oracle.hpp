// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "support/bounded.hpp"
#include "support/format.hpp"
#include "support/oracle_modes.hpp"

/// Definitions of all operators, evaluated one after another in double. Shares no code with the library: tensors are
/// dense std::vectors in N, C, D, H, W order, for every layout under test.
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
    std::int64_t t = 1, front = 0, back = 0, slice_stride = 1, slice_dilation = 1;  // as above, of slices

    std::int64_t output_depth(std::int64_t d) const {
        return count(d + front + back, (t - 1) * slice_dilation + 1, slice_stride);
    }
    std::int64_t output_height(std::int64_t h) const { return count(h + top + bottom, (r - 1) * d + 1, u); }
    std::int64_t output_width(std::int64_t w) const { return count(w + left + right, (s - 1) * e + 1, v); }

private:
    /// Number of windows of `reach` that fit in `extent`, one every `step`.
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

    /// Channel of element i, and its index within one image.
    std::size_t channel(std::size_t i) const { return i / (shape.d * shape.h * shape.w) % shape.c; }
    std::size_t element(std::size_t i) const { return i % (shape.c * shape.d * shape.h * shape.w); }

    /// y[i] = f(y[i], i)
    template <class F>
    Tensor each(F f) const {
        Tensor y = *this;
        for (std::size_t i = 0; i < at.size(); ++i) y.at[i] = f(at[i], i);
        return y;
    }
};

/// Largest power of two, at least 2^-12, that divides all exact values; 0 if none.
double unit_of(Tensor const& x);

/// Products of integers, and of multiples of 2^-n and integers, are summed without error in any order while the sum of
/// magnitudes is at most 2^24 units. Any other sum of m products has an error of at most m half ulps of the sum of
/// magnitudes (Higham 2002, section 3.1), plus the errors of x. Padding is zeros, multiplied and summed like other
/// values.
Tensor conv(Tensor const& x, std::vector<double> const& weights, std::int64_t k, Window const& f);

/// Transpose of conv, from the shape of its y (u's) to that of its x: every element of u is scattered to all elements
/// that its window covers, times the taps. u and weights are integers: sums are exact below 2^24.
Tensor transposed_conv(Tensor const& u, std::vector<double> const& weights, Shape const& x, Window const& f);

/// dw[k,c,t,r,s], as K "images" of C / groups channels: the sum of dy[n,k,o,p,q] x[n,c,d,h,w] over all pixels.
Tensor weight_gradient(Tensor const& x, Tensor const& dy, Window const& f);

Tensor bias(Tensor const& x, std::vector<double> const& b);

struct Statistics {
    std::vector<double> mean, variance, scale, shift;
    double epsilon;
};

Bounded normalize(Bounded x, Statistics const& s, std::size_t i);
Tensor batch_norm_spatial(Tensor const& x, Statistics const& s);
Tensor batch_norm_per_activation(Tensor const& x, Statistics const& s);

Tensor residual(Tensor const& x, std::vector<double> const& z, double alpha2);

/// Rounds exact integer sums to the nearest float.
Tensor exact_sums(Tensor const& x);

/// Rounds to elements of a format: exact values once; others may round to an adjacent value.
Tensor elements(Tensor const& x, Format const& format);

Tensor requantize(Tensor const& x, std::vector<double> const& factors, double zero_point);

Tensor scale(Tensor const& x, double factor);

Tensor activation(Tensor const& x, Mode const& mode);

/// Rules of a pool. counts_padding: a mean is also of the zeros in the padding; rounds_up: the last window may end
/// beyond the padding, if it begins before the end of the image.
struct PoolRules {
    bool counts_padding = false, rounds_up = false;
};

/// Reduces the elements of every window that are inside the image: the maximum, or the mean. The mean's sum is exact
/// for integers with a sum below 2^24; otherwise its error is at most as many half ulps of the sum of magnitudes as
/// there are elements.
Tensor pool(Tensor const& x, bool largest, Window const& f, PoolRules const& rules = {});

/// Number r S + s of the tap at which each window has its first maximum, row by row.
Tensor pool_taps(Tensor const& x, Window const& f, PoolRules const& rules = {});

/// Gradient of pool(), scattered: each dy[n,k,p,q] is added to the element of x whose tap `taps` names or, where `taps`
/// is null, divided by the mean's count and added to every element of the window.
Tensor pool_gradient(Tensor const& dy, Shape const& x, Window const& f, PoolRules const& rules, Tensor const* taps);

/// Pool over adjacent windows of rows x columns.
Tensor pool(Tensor const& x, bool largest, std::int64_t rows, std::int64_t columns);

}  // namespace test::oracle
