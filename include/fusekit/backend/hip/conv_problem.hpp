// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::hip {

/// A place in the output: image, row and column. n is -1 past the last one.
struct Pixel {
    std::int32_t n, p, q;
};

/// A row of an operand: an output pixel's window in x, or a channel's filter in the weights. `h` and `w` are where the
/// window begins.
struct Row {
    std::int64_t offset;
    std::int32_t h, w;
};

/// An index of GemmK: a channel and a tap, as steps from where a row begins.
struct Tap {
    std::int64_t offset;
    std::int32_t h, w;
};

/// What a row or a tap that is past the end has for `h`: no other one brings it back inside.
inline constexpr std::int32_t outside = -(1 << 30);

/// One of the two tensors that an implicit GEMM multiplies; zero where row and tap meet outside of it.
template <Element T>
struct Operand {
    T const* data;
    std::int32_t height, width;

    __device__ bool holds(Row const& row, Tap const& tap) const {
        return static_cast<std::uint32_t>(row.h + tap.h) < static_cast<std::uint32_t>(height) &&
               static_cast<std::uint32_t>(row.w + tap.w) < static_cast<std::uint32_t>(width);
    }
    __device__ T load(Row const& row, Tap const& tap) const {
        return holds(row, tap) ? data[row.offset + tap.offset] : T(0.0f);
    }
    template <int Count>
    __device__ Pack<T, Count> load_pack(Row const& row, Tap const& tap) const {
        if (holds(row, tap)) return *reinterpret_cast<Pack<T, Count> const*>(data + row.offset + tap.offset);
        return {};
    }
};

/// A convolution as a kernel sees it. GemmM = N P Q, GemmN = K, GemmK = C R S, the last two per group. Every extent
/// and GemmM are below 2^30.
template <Element T>
struct ConvProblem {
    TensorView<T const> x;   // (N, C, H, W)
    TensorView<T const> w;   // (K, C / G, R, S)
    TensorView<T> y;         // (N, K, P, Q)
    Filter<2> filter;

    __device__ std::int32_t groups() const { return filter.group_count; }
    __device__ std::int32_t group_c() const { return extent(w, 1); }
    __device__ std::int32_t group_k() const { return extent(y, 1) / groups(); }
    __device__ std::int32_t gemm_m() const { return extent(y, 0) * extent(y, 2) * extent(y, 3); }
    __device__ std::int32_t gemm_k() const { return group_c() * filter.size[0] * filter.size[1]; }

    __device__ Pixel pixel(std::int32_t m) const {
        if (m >= gemm_m()) return {-1, 0, 0};
        std::int32_t const q = extent(y, 3), plane = extent(y, 2) * q, in_plane = m % plane;
        return {m / plane, in_plane / q, in_plane % q};
    }

    __device__ Operand<T> inputs() const { return {x.data, extent(x, 2), extent(x, 3)}; }
    __device__ Row input_row(Pixel const& at, std::int32_t group) const {
        if (at.n < 0) return {0, outside, 0};
        std::int32_t const h = at.p * filter.step[0] - filter.before[0], v = at.q * filter.step[1] - filter.before[1];
        return {at.n * stride(x, 0) + group * group_c() * stride(x, 1) + h * stride(x, 2) + v * stride(x, 3), h, v};
    }

    __device__ Operand<T> weights() const { return {w.data, 1, 1}; }
    __device__ Row filter_row(std::int32_t k, std::int32_t group) const {
        if (k >= group_k()) return {0, outside, 0};
        return {(group * group_k() + k) * stride(w, 0), 0, 0};
    }

    /// Index `k` of GemmK in x and in the weights, channels or taps fastest.
    struct Taps {
        Tap x, w;
    };
    __device__ Taps tap(std::int32_t k, bool channels_fastest) const {
        if (k >= gemm_k()) return {{0, outside, 0}, {0, outside, 0}};
        std::int32_t const taps = filter.size[0] * filter.size[1];
        std::int32_t const c = channels_fastest ? k % group_c() : k / taps;
        std::int32_t const tap = channels_fastest ? k / group_c() : k % taps;
        std::int32_t const r = tap / filter.size[1], s = tap % filter.size[1];
        std::int32_t const h = r * filter.spread[0], v = s * filter.spread[1];
        return {{c * stride(x, 1) + h * stride(x, 2) + v * stride(x, 3), h, v},
                {c * stride(w, 1) + r * stride(w, 2) + s * stride(w, 3), 0, 0}};
    }

private:
    template <class View>
    __device__ static std::int32_t extent(View const& view, int mode) {
        return static_cast<std::int32_t>(view.layout.shape[mode]);
    }
    template <class View>
    __device__ static std::int64_t stride(View const& view, int mode) {
        return view.layout.stride[mode];
    }
};

}  // namespace fusekit::hip
