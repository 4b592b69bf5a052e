// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "fusekit/config.hpp"

/// Arguments for tests of float functions.
namespace test {

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
inline constexpr float largest = std::numeric_limits<float>::max();

template <int Bytes>
struct VectorOf {
    using Type [[gnu::vector_size(Bytes)]] = float;
};
using Vector = VectorOf<fusekit::config::vector_bytes>::Type;
inline constexpr int lanes = sizeof(Vector) / sizeof(float);

/// Calls f(Vector) with every `stride`th float, with floats from -12 to 12 in steps of `step`, and with special values.
template <class F>
void sweep_floats(std::uint64_t stride, float step, F const& f) {
    Vector x{};
    for (std::uint64_t bits = 0; bits < 0x100000000u; bits += stride * lanes) {
        for (int i = 0; i < lanes; ++i)
            x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(
                std::min<std::uint64_t>(bits + stride * static_cast<unsigned>(i), 0xffffffffu)));
        f(x);
    }
    for (float first = -12; first < 12; first += step * lanes) {
        for (int i = 0; i < lanes; ++i) x[i] = first + step * static_cast<float>(i);
        f(x);
    }
    for (float const special : {0.0f, -0.0f, infinity, -infinity, not_a_number, -not_a_number, largest, -largest, 1e30f,
                                -1e30f, 1e-6f, 88.8f, -88.8f, -104.0f})
        f(Vector{} + special);
}

}  // namespace test
