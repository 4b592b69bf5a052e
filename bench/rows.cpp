// SPDX-License-Identifier: MIT
//
// Times norms and softmax of rows, half: of matrices, NHWC and NCHW, beside a Relu of x, which moves the same bytes.
// Checks samples of y against double.
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

}  // namespace

int main() {
    for (int columns : {64, 768, 1000, 1024, 2048, 4096, 8192, 32768}) {
        auto const matrix = fk::nhwc(1, 1, columns > 8192 ? 1024 : 4096, columns);
        measure<fk::LayerNorm>("LayerNorm", matrix, {}, columns);
        measure<fk::RmsNorm>("RmsNorm", matrix, {}, columns);
        measure<fk::Softmax>("Softmax", matrix, {}, columns);
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
}
