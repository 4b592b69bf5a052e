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

/// An index of GemmK as the channel and the tap that it means.
struct Digits {
    std::int32_t c, r, s;
};

/// A row of an operand, an output pixel's window in x or a channel's filter in the weights, and a bit for each of the
/// window's rows and columns that lies in the image.
template <Element T>
struct Row {
    T const* first;
    std::uint32_t has;
};

/// An index of GemmK as a step from where a row begins, in elements, and the bits that the row must have; where it
/// has not, the operand is zero.
struct Tap {
    std::int32_t offset;
    std::uint32_t needs;

    /// The bits of the first row and column of a window, and one that no row has: past the end.
    static constexpr std::uint32_t row = 1, column = 1 << 16, never = 1u << 31;
    static constexpr int most = 15;  ///< rows, or columns, of a window
};

template <int Count, Element T>
__device__ Packet<T, Count> load(Row<T> const& row, Tap const& tap) {
    if ((tap.needs & ~row.has) != 0) return {};
    return *reinterpret_cast<Packet<T, Count> const*>(row.first + tap.offset);
}

/// A convolution as a kernel sees it. GemmM = N P Q, GemmN = K, GemmK = C R S, the last two per group. Extents and
/// GemmM are below 2^30, elements of an image and of a filter below 2^31.
template <Element T>
struct ConvProblem {
    TensorView<T const> x;   // (N, C, H, W)
    TensorView<T const> w;   // (K, C / G, R, S)
    TensorView<T> y;         // (N, K, P, Q)
    Filter<2> filter;

    __device__ int groups() const { return filter.group_count; }
    __device__ int group_c() const { return extent(w, 1); }
    __device__ int group_k() const { return extent(y, 1) / groups(); }
    __device__ int gemm_m() const { return extent(y, 0) * extent(y, 2) * extent(y, 3); }
    __device__ int gemm_k() const { return group_c() * filter.size[0] * filter.size[1]; }

    __device__ Pixel pixel(int m) const {
        if (m >= gemm_m()) return {-1, 0, 0};
        auto const at = static_cast<unsigned>(m), q = static_cast<unsigned>(extent(y, 3));
        unsigned const plane = static_cast<unsigned>(extent(y, 2)) * q, n = at / plane, p = at % plane / q;
        return {static_cast<int>(n), static_cast<int>(p), static_cast<int>(at - n * plane - p * q)};
    }
    __device__ std::int64_t output_offset(Pixel const& at) const {
        return at.n * stride(y, 0) + at.p * stride(y, 2) + at.q * stride(y, 3);
    }

    template <bool padded>
    __device__ Row<T> input_row(Pixel const& at, int group) const {
        if (at.n < 0) return {x.data, 0};
        int const h = at.p * filter.step[0] - filter.before[0], v = at.q * filter.step[1] - filter.before[1];
        std::uint32_t has = 0;
        if constexpr (padded) {
            for (int r = 0; r < filter.size[0]; ++r)
                if (inside(h + r * filter.spread[0], extent(x, 2))) has |= Tap::row << r;
            for (int s = 0; s < filter.size[1]; ++s)
                if (inside(v + s * filter.spread[1], extent(x, 3))) has |= Tap::column << s;
        }
        return {x.data + at.n * stride(x, 0) + group * group_c() * stride(x, 1) + h * stride(x, 2) + v * stride(x, 3),
                has};
    }
    __device__ Row<T> filter_row(int k, int group) const {
        int const in_group = k < group_k() ? k : group_k() - 1;
        return {w.data + (group * group_k() + in_group) * stride(w, 0), 0};
    }

    /// An index of GemmK in x and in the weights.
    struct Taps {
        Tap x, w;
    };
    template <bool padded>
    __device__ Taps taps(Digits const& at) const {
        if (at.c >= group_c() || at.r >= filter.size[0]) return {{0, Tap::never}, {0, Tap::never}};
        std::int64_t const in_x =
            at.c * stride(x, 1) + at.r * filter.spread[0] * stride(x, 2) + at.s * filter.spread[1] * stride(x, 3);
        std::int64_t const in_w = at.c * stride(w, 1) + at.r * stride(w, 2) + at.s * stride(w, 3);
        return {{static_cast<std::int32_t>(in_x), padded ? Tap::row << at.r | Tap::column << at.s : 0},
                {static_cast<std::int32_t>(in_w), 0}};
    }

    /// An index of GemmK, over which channels run fastest, or taps.
    __device__ Digits digits(unsigned index, bool channels_fastest) const {
        auto const channels = static_cast<unsigned>(group_c()), columns = static_cast<unsigned>(filter.size[1]);
        unsigned const taps = static_cast<unsigned>(filter.size[0]) * columns;
        unsigned const c = channels_fastest ? index % channels : index / taps;
        unsigned const tap = channels_fastest ? index / channels : index % taps;
        return {static_cast<int>(c), static_cast<int>(tap / columns), static_cast<int>(tap % columns)};
    }

    /// The index `step` further, digit by digit: a division would hold up every step of a mainloop.
    __device__ Digits advanced(Digits at, Digits const& step, bool channels_fastest) const {
        at.c += step.c, at.r += step.r, at.s += step.s;
        if (channels_fastest) {
            if (at.c >= group_c()) at.c -= group_c(), ++at.s;
            if (at.s >= filter.size[1]) at.s -= filter.size[1], ++at.r;
        } else {
            if (at.s >= filter.size[1]) at.s -= filter.size[1], ++at.r;
            if (at.r >= filter.size[0]) at.r -= filter.size[0], ++at.c;
        }
        return at;
    }

private:
    template <class View>
    __device__ static int extent(View const& view, int mode) {
        return static_cast<int>(view.layout.shape[mode]);
    }
    template <class View>
    __device__ static std::int64_t stride(View const& view, int mode) {
        return view.layout.stride[mode];
    }
    __device__ static bool inside(int at, int extent) {
        return static_cast<unsigned>(at) < static_cast<unsigned>(extent);
    }
};

}  // namespace fusekit::hip
