// SPDX-License-Identifier: MIT
// Tensors of more than 2^32 elements, in 20 GB of a GPU's memory. FUSEKIT_LARGE_SIDE=8 makes their images small, to try
// this file without a GPU.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <vector>

#include "backend/hip/gpu.hpp"

using namespace test;

namespace {

using fk::half;
using View = fk::TensorView<half>;

std::int64_t side() {
    char const* const given = std::getenv("FUSEKIT_LARGE_SIDE");
    return given ? std::atoi(given) : 1024;
}

/// Two buffers of over 2^32 halves.
class Buffers {
public:
    fk::hip::Device device = gpu();
    std::int64_t const size = 1100 * 4 * side() * side();
    void *x = nullptr, *y = nullptr;

    Buffers() {
        try {
            x = device.allocate(bytes()), y = device.allocate(bytes());
        } catch (fk::Error const& error) {
            device.release(x);
            SKIP("this needs 20 GB of a GPU's memory. " << error.what());
        }
    }
    Buffers(Buffers const&) = delete;
    ~Buffers() { device.release(x), device.release(y); }

    View input(fk::Layout<4> const& layout) { return of(x, layout, 0); }
    /// Poisoned with NaN.
    View output(fk::Layout<4> const& layout) { return of(y, layout, 0xff); }
    View zeros(fk::Layout<4> const& layout) { return of(y, layout, 0); }

private:
    std::size_t bytes() const { return static_cast<std::size_t>(size) * sizeof(half); }
    View of(void* memory, fk::Layout<4> const& layout, int byte) {
        using namespace fk::hip;
        REQUIRE(layout.size() <= size);
        REQUIRE(hipMemset(memory, byte, static_cast<std::size_t>(layout.size()) * sizeof(half)) == hipSuccess);
        return {static_cast<half*>(memory), layout};
    }
};

/// Pixels at both ends, and about every power of two that an index of elements or pixels may overflow at.
std::vector<std::array<std::int64_t, 3>> pixels_of(fk::Index<4> const& shape) {
    std::vector<std::array<std::int64_t, 3>> all;
    std::int64_t const last = shape[0] - 1;
    std::vector<std::int64_t> images = {0, last};
    for (int power = 28; power <= 32; ++power)
        for (std::int64_t const size : {shape[1] * shape[2] * shape[3], shape[2] * shape[3]})
            for (std::int64_t const by : {-1, 0})
                images.push_back(std::min(std::max<std::int64_t>((std::int64_t{1} << power) / size + by, 0), last));
    std::sort(images.begin(), images.end());
    images.erase(std::unique(images.begin(), images.end()), images.end());
    for (std::int64_t const n : images) {
        auto const at = static_cast<std::int64_t>(all.size()) % 3;
        all.push_back({n, at * (shape[2] - 1) / 2, at == 1 ? 3 : at * (shape[3] - 1) / 2});
    }
    return all;
}
/// Calls f(n, p, q) for the pixels up to `around` from these, of an image.
void each_pixel(fk::Index<4> const& shape, std::int64_t around, auto const& f) {
    for (auto const& [n, p, q] : pixels_of(shape))
        for (std::int64_t i = std::max<std::int64_t>(p - around, 0); i <= std::min(p + around, shape[2] - 1); ++i)
            for (std::int64_t j = std::max<std::int64_t>(q - around, 0); j <= std::min(q + around, shape[3] - 1); ++j)
                f(n, i, j);
}

/// Zeros, and small integers in 3 x 3 pixels about each of pixels_of(), which the device's view has too.
class Sparse {
public:
    fk::Index<4> const shape;

    Sparse(fk::hip::Device& device, View const& view, int seed) : shape(view.layout.shape) {
        each_pixel(shape, 1, [&](std::int64_t n, std::int64_t p, std::int64_t q) {
            for (std::int64_t c = 0; c < shape[1]; ++c) {
                auto const value = static_cast<int>((n * 7 + c * 5 + p * 3 + q + seed) % 5 - 2);
                planted[{n, c, p, q}] = value;
                half const stored(static_cast<float>(value));
                device.copy_in(&view(n, c, p, q), &stored, sizeof stored);
            }
        });
    }
    int operator()(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
        auto const found = planted.find({n, c, h, w});
        return found == planted.end() ? 0 : found->second;
    }
    bool has(std::int64_t h, std::int64_t w) const { return h >= 0 && w >= 0 && h < shape[2] && w < shape[3]; }
    void each(auto const& f) const {
        for (auto const& [at, value] : planted) f(at, value);
    }

private:
    std::map<std::array<std::int64_t, 4>, int> planted;
};

/// Weights of 3 x 3 taps, from -1 to 1.
int weight(std::int64_t k, std::int64_t c, std::int64_t r, std::int64_t s) {
    return static_cast<int>((k * 5 + c * 7 + r * 2 + s) % 3) - 1;
}
fk::Tensor<half, fk::hip::Device> weights(fk::hip::Device& device, fk::Layout<4> const& layout) {
    std::vector<half> values(static_cast<std::size_t>(layout.size()));
    fk::Index<4> const& shape = layout.shape;
    for (std::int64_t k = 0; k < shape[0]; ++k)
        for (std::int64_t c = 0; c < shape[1]; ++c)
            for (std::int64_t r = 0; r < 3; ++r)
                for (std::int64_t s = 0; s < 3; ++s)
                    values[static_cast<std::size_t>(layout.offset({{k, c, r, s}}))] =
                        half(static_cast<float>(weight(k, c, r, s)));
    fk::Tensor<half, fk::hip::Device> tensor(device, layout);
    tensor.copy_from(values.data());
    return tensor;
}

/// How many elements about pixels_of() are not expected(n, k, p, q); of many channels, some are read.
int wrong(fk::hip::Device& device, View const& y, auto const& expected) {
    int count = 0;
    device.synchronize();
    each_pixel(y.layout.shape, 2, [&](std::int64_t n, std::int64_t p, std::int64_t q) {
        for (std::int64_t k = 0; k < y.layout.shape[1]; k += y.layout.shape[1] > 4 ? 21 : 1) {
            half got(0.0f);
            device.copy_out(&got, &y(n, k, p, q), sizeof got);
            count += static_cast<float>(got) != static_cast<float>(expected(n, k, p, q));
        }
    });
    return count;
}

/// Of 4 channels, and over 2^30 pixels; and of 64.
std::vector<fk::Layout<4>> layouts_of(Buffers const& of) {
    std::int64_t const d = side(), few = of.size / (64 * d * d);
    return {fk::nhwc(1100, d, d, 4), fk::nchw(1100, 4, d, d), fk::nhwc(few, d, d, 64), fk::nchw(few, 64, d, d)};
}

}  // namespace

TEST_CASE("HIP: convolutions and their gradients by x of over 2^32 elements and 2^30 pixels are exact") {
    Buffers of;
    constexpr auto filter = fk::filter(3, 3).pad(1);
    for (fk::Layout<4> const& layout : layouts_of(of)) {
        INFO(fk::to_string(layout.shape) << ", strides " << fk::to_string(layout.stride));
        std::int64_t const channels = layout.shape[1];
        auto const w = weights(of.device, fk::channels_last(layout) ? fk::krsc(channels, 3, 3, channels)
                                                                    : fk::kcrs(channels, channels, 3, 3));
        auto const in = of.input(layout);
        Sparse const x(of.device, in, 1);
        auto const y = of.output(layout);
        auto const sum = [&](std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t q, bool transposed) {
            int sum = 0;
            for (std::int64_t c = 0; c < channels; ++c)
                for (std::int64_t r = 0; r < 3; ++r)
                    for (std::int64_t s = 0; s < 3; ++s)
                        sum += transposed ? x(n, c, p + 1 - r, q + 1 - s) * weight(c, k, r, s)
                                          : x(n, c, p + r - 1, q + s - 1) * weight(k, c, r, s);
            return sum;
        };
        fk::Plan<fk::Conv<filter>>::bind({.weights = w})(of.device, in, y);
        CHECK(wrong(of.device, y, [&](auto... at) { return sum(at..., false); }) == 0);
        of.output(layout);
        fk::Plan<fk::TransposedConv<filter>>::bind({.weights = w})(of.device, in, y);
        CHECK(wrong(of.device, y, [&](auto... at) { return sum(at..., true); }) == 0);
    }
}

TEST_CASE("HIP: gradients by the weights over 2^32 elements and 2^30 pixels are exact") {
    Buffers of;
    for (fk::Layout<4> const& layout : layouts_of(of)) {
        INFO(fk::to_string(layout.shape) << ", strides " << fk::to_string(layout.stride));
        std::int64_t const channels = layout.shape[1];
        auto const in = of.input(layout), out = of.zeros(layout);
        Sparse const x(of.device, in, 1), dy(of.device, out, 3);
        std::vector<float> expected(static_cast<std::size_t>(channels * channels * 9)), got(expected.size(), -77);
        fk::Tensor<float, fk::hip::Device> dw(of.device, fk::kcrs(channels, channels, 3, 3));
        dw.copy_from(got.data());
        fk::Plan<fk::ConvWeightGradient<fk::filter(3, 3).pad(1)>>::bind({.dy = out})(of.device, in, dw);
        dw.copy_to(got.data());
        dy.each([&](auto const& at, int value) {
            auto const& [n, k, p, q] = at;
            for (std::int64_t c = 0; c < channels; ++c)
                for (std::int64_t r = 0; r < 3; ++r)
                    for (std::int64_t s = 0; s < 3; ++s)
                        expected[static_cast<std::size_t>(((k * channels + c) * 3 + r) * 3 + s)] +=
                            static_cast<float>(value * x(n, c, p + r - 1, q + s - 1));
        });
        CHECK((got == expected));
    }
}

TEST_CASE("HIP: elementwise plans and pools of over 2^32 elements are exact") {
    Buffers of;
    std::int64_t const d = side();
    for (fk::Layout<4> const& layout : {fk::nhwc(1100, d, d, 4), fk::nchw(1100, 4, d, d)}) {
        INFO(fk::to_string(layout.stride));
        auto const in = of.input(layout);
        Sparse const x(of.device, in, 1);
        auto const bias = fk::tensor<float>(of.device, fk::channels(4), {-1, 0, 1, 2});
        auto y = of.output(layout);
        fk::Plan<fk::Bias, fk::Activation<fk::Relu>>::bind({.bias = bias}, {})(of.device, in, y);
        CHECK(wrong(of.device, y, [&](std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t q) {
                  return std::max<std::int64_t>(x(n, k, p, q) + k - 1, 0);
              }) == 0);
        fk::Layout<4> const row = fk::nchw(1, 1, 1, layout.size());  // one image of all
        fk::Plan<fk::Scale>::bind({.factor = -1})(of.device, View(in.data, row), View(of.output(layout).data, row));
        CHECK(wrong(of.device, y, [&](auto... at) { return -x(at...); }) == 0);
        y = of.output(layout);
        fk::Plan<fk::Pool<fk::Max, fk::filter(3, 3).pad(1)>>::bind({})(of.device, in, y);
        CHECK(wrong(of.device, y, [&](std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t q) {
                  int most = -9;
                  for (std::int64_t i = p - 1; i <= p + 1; ++i)
                      for (std::int64_t j = q - 1; j <= q + 1; ++j)
                          if (x.has(i, j)) most = std::max(most, x(n, k, i, j));
                  return most;
              }) == 0);
    }
}

// Half of the images are 1, half -1: the mean is 0, the variance 1, and y = 4 x / sqrt(1 + 3) + shift. Both are off by
// less than 2^-15, by the rounding of floats over some 2^9 merges, and half of a step of half at 2 is 2^-10.
TEST_CASE("HIP: batch norm of channels of over 2^31 elements has the statistics of all") {
    Buffers of;
    std::int64_t const d = side(), n = 2200;
    auto const scale = fk::tensor<float>(of.device, fk::channels(2), {4, -4}),
               shift = fk::tensor<float>(of.device, fk::channels(2), {0, 1});
    auto const values = fk::tensor<float>(of.device, fk::nchw(2, 1, 1, 1), {1, -1});
    for (fk::Layout<4> const& layout : {fk::nchw(n, 2, d, d), fk::nhwc(n, d, d, 2)}) {
        INFO(fk::to_string(layout.stride));
        auto const in = of.input(layout), y = of.output(layout);
        for (int part = 0; part < 2; ++part)
            fk::Plan<fk::Scale>::bind({.factor = 1})(of.device,
                                                     fk::broadcast(fk::sliced(values, 0, part, 1), n / 2, 2, d, d),
                                                     fk::sliced(in, 0, part * n / 2, n / 2));
        fk::Plan<fk::BatchNormTraining<fk::Spatial>>::bind({.scale = scale, .shift = shift, .epsilon = 3})(of.device,
                                                                                                           in, y);
        CHECK(wrong(of.device, y, [&](std::int64_t image, std::int64_t k, std::int64_t, std::int64_t) {
                  int const x = image < n / 2 ? 1 : -1;
                  return k == 0 ? 2 * x : 1 - 2 * x;
              }) == 0);
    }
}
