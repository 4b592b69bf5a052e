// SPDX-License-Identifier: MIT
//
// Times norms and softmax of rows and their gradients, half: of matrices, NHWC and NCHW, beside a Relu that moves the
// same bytes. Checks samples of y, dx and the gradient of scale against double.
#include <fusekit/hip.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

#include "support/graph_timing.hpp"

namespace {

namespace fk = fusekit;
using fk::half;
using Tensor = fk::Tensor<half, fk::hip::Device>;
using Parameters = fk::Tensor<float, fk::hip::Device, 1>;

std::vector<float> values_of(Tensor const& tensor) {
    std::vector<half> all(static_cast<std::size_t>(tensor.size()));
    tensor.copy_to(all.data());
    return {all.begin(), all.end()};
}

/// Largest error of samples of y over 2^-10 (|y| + 1); `channels`: channels of a row; `over_pixels`: it has all pixels.
double worst_error(Tensor const& x, Tensor const& y, std::int64_t channels, bool over_pixels, bool softmax) {
    auto const in = values_of(x), out = values_of(y);
    fk::Layout<4> const layout = x.layout();
    fk::Index<4> const& shape = layout.shape;
    double worst = 0;
    for (std::int64_t i = 0; i < 40; ++i) {
        fk::Index<4> const at{{i * 7919 % shape[0], i * 104729 % shape[1], i * 31 % shape[2], i * 17 % shape[3]}};
        double sum = 0, squares = 0, exponentials = 0;
        std::int64_t const first = over_pixels ? at[1] / channels * channels : 0;
        auto const each = [&](auto const& f) {
            for (std::int64_t k = first; k < first + channels; ++k)
                for (std::int64_t p = over_pixels ? 0 : at[2]; p < (over_pixels ? shape[2] : at[2] + 1); ++p)
                    for (std::int64_t q = over_pixels ? 0 : at[3]; q < (over_pixels ? shape[3] : at[3] + 1); ++q)
                        f(double{in[static_cast<std::size_t>(layout.offset({{at[0], k, p, q}}))]});
        };
        double const count = static_cast<double>(channels * (over_pixels ? shape[2] * shape[3] : 1));
        each([&](double v) { sum += v, exponentials += std::exp(v); });
        each([&](double v) { squares += (v - sum / count) * (v - sum / count); });
        auto const offset = static_cast<std::size_t>(layout.offset(at));
        double const exact = softmax ? std::exp(double{in[offset]}) / exponentials
                                     : (in[offset] - sum / count) / std::sqrt(squares / count + 1e-5);
        double const error =
            std::fabs(out[offset] - exact) / (0x1p-10 * (softmax ? exact : std::fabs(exact) + 1) + 0x1p-25);
        if (!(error <= worst)) worst = error;
    }
    return worst;
}

template <class Op>
void measure(char const* name, fk::Layout<4> const& layout, typename Op::Args const& args, std::int64_t channels) {
    fk::hip::Device device;
    double const bytes = 2.0 * sizeof(half) * static_cast<double>(layout.size());
    int const rotation = 1 + static_cast<int>(130e6 / bytes);
    std::vector<Tensor> x, y;
    for (int i = 0; i < rotation; ++i) {
        y.emplace_back(device, layout);
        if (i == 0) x.push_back(fk::random<half>(device, layout));
        else x.emplace_back(device, layout), fk::Plan<fk::Scale>::bind({.factor = 1})(device, x[0], x.back());
    }
    Parameters const ones = fk::random<float>(device, fk::channels(layout.shape[1]), 3);
    auto with = args;
    if constexpr (requires { with.scale; }) with.scale = ones;
    auto const slot = [&](std::int64_t call) { return static_cast<std::size_t>(call % rotation); };
    auto const relu = fk::Plan<fk::Activation<fk::Relu>>::bind({});
    std::vector<bench::Subject> const subjects{
        [&](std::int64_t call) { fk::Plan<Op>::bind(with)(device, x[slot(call)], y[slot(call)]); },
        [&](std::int64_t call) { relu(device, x[slot(call)], y[slot(call)]); },
        [&](std::int64_t call) { fk::Plan<Op>::bind(args)(device, x[slot(call)], y[slot(call)]); }};
    subjects[2](0);
    device.synchronize();
    constexpr bool softmax = std::is_same_v<Op, fk::Softmax>;
    double const worst =
        std::is_same_v<Op, fk::RmsNorm> ? 0 : worst_error(x[0], y[0], channels, Op::over_pixels, softmax);
    auto const seconds = bench::graph_medians(device.stream(), subjects, rotation, 7);
    std::printf("%-10s %-5s %4lld x %5lld x %4lld x %4lld: %8.2f us, copy %8.2f, share %.2f; error %.2f%s\n", name,
                layout.stride[1] == 1 ? "nhwc" : "nchw", static_cast<long long>(layout.shape[0]),
                static_cast<long long>(layout.shape[1]), static_cast<long long>(layout.shape[2]),
                static_cast<long long>(layout.shape[3]), 1e6 * seconds[0], 1e6 * seconds[1], seconds[1] / seconds[0],
                worst, worst <= 1 ? "" : " WRONG");
    std::fflush(stdout);
}

/// Largest error of samples of dx, over 2^-10 (|dx| + 1), and of dscale, over 2^-20 of its terms, of a LayerNorm of the
/// rows of a matrix.
double worst_gradient_error(Tensor const& x, Tensor const& dy, Tensor const& dx, Parameters const& scale,
                            Parameters const& dscale) {
    auto const in = values_of(x), g = values_of(dy), out = values_of(dx);
    auto const columns = static_cast<std::size_t>(x.layout().shape[1]), rows = in.size() / columns;
    std::vector<double> mean(rows), inverse(rows);
    std::vector<float> scales(columns), totals(columns);
    scale.copy_to(scales.data()), dscale.copy_to(totals.data());
    for (std::size_t row = 0; row < rows; ++row) {
        double sum = 0, squares = 0;
        for (std::size_t k = 0; k < columns; ++k) sum += in[row * columns + k];
        mean[row] = sum / static_cast<double>(columns);
        for (std::size_t k = 0; k < columns; ++k)
            squares += (in[row * columns + k] - mean[row]) * (in[row * columns + k] - mean[row]);
        inverse[row] = 1 / std::sqrt(squares / static_cast<double>(columns) + 1e-5);
    }
    auto const n = [&](std::size_t row, std::size_t k) { return (in[row * columns + k] - mean[row]) * inverse[row]; };
    double worst = 0;
    auto const update = [&](double error) { worst = error <= worst ? worst : error; };
    for (std::size_t i = 0; i < 40; ++i) {
        std::size_t const row = i * 7919 % rows, at = i * 104729 % columns;
        double of_g = 0, of_g_n = 0;
        for (std::size_t k = 0; k < columns; ++k)
            of_g += g[row * columns + k] * scales[k], of_g_n += g[row * columns + k] * scales[k] * n(row, k);
        double const count = static_cast<double>(columns), own = g[row * columns + at] * scales[at],
                     exact = inverse[row] * (own - of_g / count - n(row, at) * of_g_n / count);
        update(std::fabs(out[row * columns + at] - exact) / (0x1p-10 * (std::fabs(exact) + 1)));
    }
    for (std::size_t i = 0; i < 40; ++i) {
        std::size_t const k = i * 104729 % columns;
        double exact = 0, terms = 0;
        for (std::size_t row = 0; row < rows; ++row)
            exact += g[row * columns + k] * n(row, k), terms += std::fabs(g[row * columns + k] * n(row, k));
        update(std::fabs(totals[k] - exact) / (0x1p-20 * terms));
    }
    return worst;
}

/// Tensors of one layout, more bytes than a cache has, and those of a Relu that moves as many bytes as a gradient.
struct Tensors {
    fk::hip::Device device;
    fk::Layout<4> layout;
    std::vector<Tensor> x, dy, dx, source, target;
    Parameters scale, dscale, dshift;

    explicit Tensors(fk::Layout<4> const& layout)
        : layout(layout),
          scale(fk::random<float>(device, fk::channels(layout.shape[1]), 3)),
          dscale(device, fk::channels(layout.shape[1])),
          dshift(device, fk::channels(layout.shape[1])) {
        auto const copied = fk::nhwc(1, 1, 3 * layout.size() / 128, 64);
        int const rotation = 1 + static_cast<int>(130e6 / (3.0 * sizeof(half) * static_cast<double>(layout.size())));
        auto const append = [&](std::vector<Tensor>& to, unsigned seed) {
            if (to.empty()) return to.push_back(fk::random<half>(device, layout, seed));
            to.emplace_back(device, layout);
            fk::Plan<fk::Scale>::bind({.factor = 1})(device, to[0], to.back());
        };
        for (int i = 0; i < rotation; ++i) {
            append(x, 1), append(dy, 2);
            dx.emplace_back(device, layout), source.emplace_back(device, copied), target.emplace_back(device, copied);
        }
    }
};

template <class Op>
void measure_gradient(char const* name, Tensors& of) {
    constexpr bool is_layer_norm = std::is_same_v<Op, fk::LayerNorm>;
    typename Op::Args args{};
    typename fk::detail::GradientsOf<Op>::Type gradients{};
    if constexpr (requires { args.scale; }) args.scale = of.scale, gradients.scale = of.dscale.view();
    if constexpr (requires { gradients.shift; }) gradients.shift = of.dshift.view();
    using Layer = fk::Plan<Op>;
    auto const layer = Layer::bind(args);
    auto const relu = fk::Plan<fk::Activation<fk::Relu>>::bind({});
    auto const rotation = static_cast<std::int64_t>(of.x.size());
    auto const slot = [&](std::int64_t call) { return static_cast<std::size_t>(call % rotation); };
    std::vector<bench::Subject> const subjects{
        [&](std::int64_t call) {
            std::size_t const i = slot(call);
            fk::Backward<Layer>::bind(layer, of.x[i], gradients)(of.device, of.dy[i], of.dx[i]);
        },
        [&](std::int64_t call) { relu(of.device, of.source[slot(call)], of.target[slot(call)]); }};
    subjects[0](0), subjects[1](0);
    of.device.synchronize();
    double const worst = is_layer_norm ? worst_gradient_error(of.x[0], of.dy[0], of.dx[0], of.scale, of.dscale) : 0;
    auto const seconds = bench::graph_medians(of.device.stream(), subjects, rotation, 7);
    fk::Index<4> const& shape = of.layout.shape;
    std::printf("gradient of %-10s %4lld x %5lld x %4lld x %4lld: %8.2f us, copy %8.2f, share %.2f; error %.2f%s\n",
                name, static_cast<long long>(shape[0]), static_cast<long long>(shape[1]),
                static_cast<long long>(shape[2]), static_cast<long long>(shape[3]), 1e6 * seconds[0], 1e6 * seconds[1],
                seconds[1] / seconds[0], worst, worst <= 1 ? "" : " WRONG");
    std::fflush(stdout);
}

}  // namespace

int main() {
    for (int columns : {768, 1000, 1024, 2048, 4096, 8192, 16384}) {
        Tensors of(fk::nhwc(1, 1, columns > 8192 ? 2048 : 4096, columns));
        measure_gradient<fk::LayerNorm>("LayerNorm", of);
        measure_gradient<fk::RmsNorm>("RmsNorm", of);
        measure_gradient<fk::Softmax>("Softmax", of);
    }
    for (auto const& [n, c, hw] : {std::array{8, 320, 64}, {32, 512, 28}, {1, 256, 256}, {1, 128, 512}}) {
        Tensors of(fk::nhwc(n, hw, hw, c));
        measure_gradient<fk::GroupNorm>("GroupNorm", of);
    }
    for (bool const last : {true, false}) {
        auto const layout = [&](int n, int c, int hw) {
            return last ? fk::nhwc(n, hw, hw, c) : fk::nchw(n, c, hw, hw);
        };
        for (auto const& [n, c, hw] : {std::array{32, 96, 56}, {32, 192, 28}, {32, 384, 14}, {32, 768, 7}, {1, 96, 56}})
            measure<fk::LayerNorm>("LayerNorm", layout(n, c, hw), {}, c);
        for (auto const& [n, c, hw] : {std::array{8, 320, 64},
                                       {8, 640, 32},
                                       {8, 1280, 16},
                                       {1, 512, 64},
                                       {1, 512, 128},
                                       {1, 256, 256},
                                       {1, 128, 512},
                                       {32, 512, 28}})
            measure<fk::GroupNorm>("GroupNorm", layout(n, c, hw), {.groups = 32}, c / 32);
    }
    for (int columns : {64, 768, 1000, 1024, 2048, 4096, 8192, 32768}) {
        auto const matrix = fk::nhwc(1, 1, columns > 8192 ? 1024 : 4096, columns);
        measure<fk::LayerNorm>("LayerNorm", matrix, {}, columns);
        measure<fk::RmsNorm>("RmsNorm", matrix, {}, columns);
        measure<fk::Softmax>("Softmax", matrix, {}, columns);
    }
}
