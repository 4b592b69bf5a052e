// SPDX-License-Identifier: MIT
#include "support/oracle.hpp"

namespace test::oracle {

namespace {

struct Coord {
    std::int64_t slice, row, column;
};

/// Coordinates in x, or out of bounds, of tap (t, r, s) of the window of y's pixel (o, p, q).
Coord seen(Window const& f, Coord const& from, Coord const& tap) {
    return {from.slice * f.slice_stride + tap.slice * f.slice_dilation - f.front,
            from.row * f.u + tap.row * f.d - f.top, from.column * f.v + tap.column * f.e - f.left};
}
bool has(Shape const& x, Coord const& at) {
    return at.slice >= 0 && at.slice < x.d && at.row >= 0 && at.row < x.h && at.column >= 0 && at.column < x.w;
}

/// Offset in a channel of x of each tap of a pixel's window; -1 if out of bounds.
std::vector<std::int64_t> taps_of(Window const& f, Shape const& x, Shape const& y, std::int64_t pixel) {
    Coord const from{pixel / y.w / y.h, pixel / y.w % y.h, pixel % y.w};
    std::vector<std::int64_t> taps;
    for (std::int64_t t = 0; t < f.t; ++t)
        for (std::int64_t r = 0; r < f.r; ++r)
            for (std::int64_t s = 0; s < f.s; ++s) {
                Coord const at = seen(f, from, {t, r, s});
                taps.push_back(has(x, at) ? (at.slice * x.h + at.row) * x.w + at.column : -1);
            }
    return taps;
}

/// taps_of() for every pixel of y.
std::vector<std::vector<std::int64_t>> windows_of(Window const& f, Shape const& x, Shape const& y) {
    std::vector<std::vector<std::int64_t>> taps;
    for (std::int64_t pixel = 0; pixel < y.d * y.h * y.w; ++pixel) taps.push_back(taps_of(f, x, y, pixel));
    return taps;
}

}  // namespace

double unit_of(Tensor const& x) {
    for (double unit = 1; unit >= 0x1p-12; unit /= 2) {
        bool multiples = true;
        for (Bounded v : x.at) multiples = multiples && v.error == 0 && v.value == std::trunc(v.value / unit) * unit;
        if (multiples) return unit;
    }
    return 0;
}

Tensor conv(Tensor const& x, std::vector<double> const& weights, std::int64_t k, Window const& f) {
    Shape const in = x.shape;
    std::int64_t const group_c = in.c / f.groups, group_k = k / f.groups;
    Tensor y({in.n, k, f.output_height(in.h), f.output_width(in.w), f.output_depth(in.d)});
    double const unit = unit_of(x);
    bool integers = unit > 0;
    for (double v : weights) integers = integers && v == std::trunc(v);
    std::int64_t const pixels = y.shape.d * y.shape.h * y.shape.w, plane = in.d * in.h * in.w,
                       row = group_c * f.t * f.r * f.s;
    // The filters' channels are the innermost mode, so that their sums are vectorized.
    std::vector<double> by_channel(weights.size());
    for (std::int64_t channel = 0; channel < k; ++channel)
        for (std::int64_t i = 0; i < row; ++i)
            by_channel[(channel / group_k * row + i) * group_k + channel % group_k] = weights[channel * row + i];
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
        auto const taps = taps_of(f, in, y.shape, pixel);
        for (std::int64_t image = 0; image < in.n; ++image)
            for (std::int64_t group = 0; group < f.groups; ++group) {
                std::vector<double> sum(group_k), magnitude(group_k), carried(group_k);
                double const* weight = by_channel.data() + group * row * group_k;
                for (std::int64_t c = 0; c < group_c; ++c) {
                    Bounded const* const from = x.at.data() + (image * in.c + group * group_c + c) * plane;
                    for (std::int64_t const tap : taps) {
                        Bounded const value = tap < 0 ? Bounded{} : from[tap];
                        for (std::int64_t i = 0; i < group_k; ++i) {
                            double const term = value.value * weight[i];
                            sum[i] += term;
                            magnitude[i] += std::fabs(term);
                            carried[i] += value.error * std::fabs(weight[i]);
                        }
                        weight += group_k;
                    }
                }
                for (std::int64_t i = 0; i < group_k; ++i) {
                    bool const exact = integers && magnitude[i] <= 0x1p24 * unit;
                    double const rounding = exact ? 0 : (row + 1) * Bounded::unit * (magnitude[i] + carried[i]);
                    y.at[(image * k + group * group_k + i) * pixels + pixel] = {sum[i], carried[i] + rounding};
                }
            }
    }
    return y;
}

Tensor transposed_conv(Tensor const& u, std::vector<double> const& weights, Shape const& x, Window const& f) {
    Tensor y(x);
    std::int64_t const group_c = x.c / f.groups, group_k = u.shape.c / f.groups, plane = x.d * x.h * x.w;
    auto const windows = windows_of(f, x, u.shape);
    std::size_t in = 0;
    for (std::int64_t n = 0; n < u.shape.n; ++n)
        for (std::int64_t k = 0; k < u.shape.c; ++k)
            for (auto const& taps : windows) {
                auto weight = weights.begin() + k * group_c * static_cast<std::int64_t>(taps.size());
                for (std::int64_t c = 0; c < group_c; ++c) {
                    Bounded* const to = y.at.data() + (n * x.c + k / group_k * group_c + c) * plane;
                    for (std::int64_t const tap : taps) {
                        if (tap >= 0) to[tap].value += u.at[in].value * *weight;
                        ++weight;
                    }
                }
                ++in;
            }
    return y;
}

Tensor weight_gradient(Tensor const& x, Tensor const& dy, Window const& f) {
    Shape const in = x.shape, out = dy.shape;
    std::int64_t const group_c = in.c / f.groups, group_k = out.c / f.groups, plane = in.d * in.h * in.w,
                       pixels = out.d * out.h * out.w;
    auto const windows = windows_of(f, in, out);
    Tensor dw({out.c, group_c, f.r, f.s, f.t});
    std::size_t to = 0;
    for (std::int64_t k = 0; k < out.c; ++k)
        for (std::int64_t c = 0; c < group_c; ++c)
            for (std::size_t tap = 0; tap < static_cast<std::size_t>(f.t * f.r * f.s); ++tap, ++to)
                for (std::int64_t n = 0; n < out.n; ++n) {
                    auto const from = static_cast<std::size_t>((n * in.c + k / group_k * group_c + c) * plane),
                               of_dy = static_cast<std::size_t>((n * out.c + k) * pixels);
                    for (std::size_t pixel = 0; pixel < windows.size(); ++pixel)
                        if (auto const at = windows[pixel][tap]; at >= 0)
                            dw.at[to].value +=
                                dy.at[of_dy + pixel].value * x.at[from + static_cast<std::size_t>(at)].value;
                }
    return dw;
}

Tensor bias(Tensor const& x, std::vector<double> const& b) {
    return x.each([&](Bounded v, std::size_t i) { return v + Bounded{b[x.channel(i)]}; });
}

Bounded normalize(Bounded x, Statistics const& s, std::size_t i) {
    return (x - Bounded{s.mean[i]}) * (Bounded{s.scale[i]} / sqrt(Bounded{s.variance[i]} + Bounded{s.epsilon})) +
           Bounded{s.shift[i]};
}

Tensor batch_norm_spatial(Tensor const& x, Statistics const& s) {
    return x.each([&](Bounded v, std::size_t i) { return normalize(v, s, x.channel(i)); });
}

Tensor batch_norm_per_activation(Tensor const& x, Statistics const& s) {
    return x.each([&](Bounded v, std::size_t i) { return normalize(v, s, x.element(i)); });
}

Tensor residual(Tensor const& x, std::vector<double> const& z, double alpha2) {
    return x.each([&](Bounded v, std::size_t i) { return v + Bounded{alpha2} * Bounded{z[i]}; });
}

Tensor exact_sums(Tensor const& x) {
    return x.each([](Bounded v, std::size_t) { return Bounded{static_cast<float>(v.value)}; });
}

Tensor elements(Tensor const& x, Format const& format) {
    return x.each([&](Bounded v, std::size_t) {
        return Bounded{format.round(v.value), v.error == 0 ? 0 : v.error + format.spacing(v.value)};
    });
}

Tensor requantize(Tensor const& x, std::vector<double> const& factors, double zero_point) {
    return x.each([&](Bounded v, std::size_t i) { return v * Bounded{factors[x.channel(i)]} + Bounded{zero_point}; });
}

Tensor scale(Tensor const& x, double factor) {
    return x.each([&](Bounded v, std::size_t) { return Bounded{factor} * v; });
}

Tensor activation(Tensor const& x, Mode const& mode) {
    return x.each([&](Bounded v, std::size_t) { return mode(v); });
}

Tensor pool(Tensor const& x, bool largest, std::int64_t rows, std::int64_t columns) {
    return pool(x, largest, {.r = rows, .s = columns, .u = rows, .v = columns});
}

}  // namespace test::oracle
