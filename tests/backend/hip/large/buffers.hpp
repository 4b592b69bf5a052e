// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <vector>

#include "backend/hip/gpu.hpp"

/// Tensors of more than 2^32 elements, in 20 GB of a GPU's memory. FUSEKIT_LARGE_SIDE=8 makes their images small, to
/// try the tests without a GPU.
namespace test {

using fk::half;
using View = fk::TensorView<half>;

inline std::int64_t side() {
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
    View of(void* memory, fk::Layout<4> const& layout, int byte);
};

// Outside the class: cudafe++ of CUDA 13.0 does not finish on a unit with INFO in a test case after REQUIRE in a class.
inline View Buffers::of(void* memory, fk::Layout<4> const& layout, int byte) {
    using namespace fk::hip;
    REQUIRE(layout.size() <= size);
    REQUIRE(hipMemset(memory, byte, static_cast<std::size_t>(layout.size()) * sizeof(half)) == hipSuccess);
    return {static_cast<half*>(memory), layout};
}

/// Pixels at both ends, and around every power of two at which an index of elements or pixels may overflow.
inline std::vector<std::array<std::int64_t, 3>> pixels_of(fk::Index<4> const& shape) {
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
/// Calls f(n, p, q) for an image's pixels at most `around` rows and columns from pixels_of().
inline void each_pixel(fk::Index<4> const& shape, std::int64_t around, auto const& f) {
    for (auto const& [n, p, q] : pixels_of(shape))
        for (std::int64_t i = std::max<std::int64_t>(p - around, 0); i <= std::min(p + around, shape[2] - 1); ++i)
            for (std::int64_t j = std::max<std::int64_t>(q - around, 0); j <= std::min(q + around, shape[3] - 1); ++j)
                f(n, i, j);
}

/// Zeros, with small integers in 3 x 3 pixels around each of pixels_of(), also stored in the device's view.
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
inline int weight(std::int64_t k, std::int64_t c, std::int64_t r, std::int64_t s) {
    return static_cast<int>((k * 5 + c * 7 + r * 2 + s) % 3) - 1;
}
inline fk::Tensor<half, fk::hip::Device> weights(fk::hip::Device& device, fk::Layout<4> const& layout) {
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

/// Number of elements around pixels_of() that differ from expected(n, k, p, q); samples the channels if there are many.
inline int wrong(fk::hip::Device& device, View const& y, auto const& expected) {
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

/// Layouts of 4 channels and over 2^30 pixels, and of 64 channels.
inline std::vector<fk::Layout<4>> layouts_of(Buffers const& of) {
    std::int64_t const d = side(), few = of.size / (64 * d * d);
    return {fk::nhwc(1100, d, d, 4), fk::nchw(1100, 4, d, d), fk::nhwc(few, d, d, 64), fk::nchw(few, 64, d, d)};
}

}  // namespace test
