// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/async_copy.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/halo_maps.hpp"
#include "fusekit/config.hpp"

namespace fusekit::hip {

/// The group of channels that a CTA of HaloGemm computes. Groups alternate from CTA to CTA; tile numbers count the
/// tiles of one group. If the channels of a group are a multiple of 16 bytes, a tensor map has groups as a mode, and
/// TMA clips a box at the group's last channel. Otherwise a box begins up to `c_shift` (x) or `k_shift` (y) channels
/// before the group, at a multiple of 16 bytes: threads zero the other groups' channels of x, and store y.
template <bool grouped>
struct HaloGroup {
    unsigned block, step;  ///< number of the CTA, and number of CTAs, among those of its group

    template <class Problem>
    __device__ HaloGroup(Problem const&, unsigned of_grid) : block(of_grid), step(gridDim.x) {}

    /// True if the convolution has several groups.
    __device__ static constexpr bool exists() { return false; }
    __device__ static constexpr int first_k() { return 0; }
    __device__ static constexpr int begin_k() { return 0; }
    template <class Problem>
    __device__ static int end_k(Problem const& conv) {
        return conv.group_k();
    }
    template <class Problem>
    __device__ static int channels(Problem const& conv) {
        return conv.group_c();
    }
};

template <>
struct HaloGroup<true> {
    unsigned block, step;
    int count, number = 0, c_shift = 0, k_shift = 0;
    int at_c[2] = {}, at_k[2] = {};  ///< coordinates of the group's boxes of x and y: channel, and group

    template <class Problem>
    __device__ HaloGroup(Problem const& conv, unsigned of_grid)
        : block(of_grid), step(gridDim.x), count(conv.groups()) {
        if (!exists()) return;
        auto const groups = static_cast<unsigned>(count);
        block = of_grid / groups, step = gridDim.x / groups, number = static_cast<int>(of_grid - block * groups);
        place(number, conv.group_c(), c_shift, at_c);
        place(number, conv.group_k(), k_shift, at_k);
        first = number * conv.group_k() - k_shift;
    }
    __device__ bool exists() const { return count > 1; }
    /// Channel of y of the tile's first row of accumulators; the group's first channel of y; end of its channels.
    __device__ int first_k() const { return first; }
    __device__ int begin_k() const { return first + k_shift; }
    template <class Problem>
    __device__ int end_k(Problem const& conv) const {
        return (number + 1) * conv.group_k();
    }
    /// Channels of a pixel of x in SMEM up to the group's last one.
    template <class Problem>
    __device__ int channels(Problem const& conv) const {
        return c_shift + conv.group_c();
    }

private:
    int first = 0;

    __device__ static void place(int number, int channels, int& shift, int (&at)[2]) {
        bool const is_mode = channels % HaloGroups::packet == 0;
        shift = number * channels % HaloGroups::packet;
        at[0] = is_mode ? 0 : number * channels - shift, at[1] = is_mode ? number : 0;
    }
};

/// Copies the filters of all taps of a group to `to`, by `threads` threads: for each tap 64 swizzled rows of 64
/// weights. A row is a filter, its columns the channels of x or, if `transposed`, a channel of x and the filters, with
/// the taps in reverse order. Weights before and past the group's are zeros.
template <bool transposed, class T, class Problem>
__device__ void store_halo_filters(HaloGroup<true> const& group, Problem const& conv, int vector, unsigned char* to,
                                   unsigned thread, unsigned threads) {
    constexpr int rows = 64, packets = 8, packet = HaloGroups::packet;
    auto const filter = detail::window_filter(conv.filter);
    int const taps = filter.size[0] * filter.size[1], columns = filter.size[1],
              row_count = transposed ? conv.group_c() : conv.group_k(),
              column_count = transposed ? conv.group_k() : conv.group_c(),
              row_shift = transposed ? group.c_shift : group.k_shift,
              column_shift = transposed ? group.k_shift : group.c_shift;
    Index<4> const& stride = conv.w.layout.stride;
    std::int64_t const row_stride = stride[transposed ? 1 : 0], column_stride = stride[transposed ? 0 : 1];
    T const* const weights = conv.weights_of(group.number);
#pragma unroll 1
    for (int i = static_cast<int>(thread); i < taps * rows * packets; i += static_cast<int>(threads)) {
        int const chunk = i % packets, row = i / packets % rows, tap = i / (packets * rows),
                  of_w = transposed ? taps - 1 - tap : tap, r = of_w / columns, s = of_w - r * columns,
                  w_row = row - row_shift, first = chunk * packet - column_shift;
        bool const exists = w_row >= 0 && w_row < row_count;
        T const* const from = weights + w_row * row_stride + r * stride[2] + s * stride[3];
        unsigned char* const word = to + (tap * rows + row) * 128 + (chunk ^ row % 8) * 16;
        auto const inside = [&](int column) { return exists && column >= 0 && column < column_count; };
        if (vector == packet) {
            copy_async<16>(word, inside(first) ? from + first : conv.w.data, inside(first));
        } else if (vector == 2) {
#pragma unroll
            for (int e = 0; e < packet; e += 2)
                copy_async<4>(word + 2 * e, inside(first + e) ? from + first + e : conv.w.data, inside(first + e));
        } else {
            Packet<T, packet> all;
#pragma unroll
            for (int e = 0; e < packet; ++e)
                all.values[e] = load_if(inside(first + e), from + (first + e) * column_stride);
            *reinterpret_cast<Packet<T, packet>*>(word) = all;
        }
    }
    wait_for_copies();
}

/// Zeros the channels of other groups in `pixels` pixels of x, swizzled rows of 128 bytes at `x`, by the 128 threads of
/// a warpgroup. The MMAs read `channels` channels of a pixel.
template <class Problem>
__device__ void zero_other_groups(HaloGroup<true> const& group, Problem const& conv, unsigned char* x, int pixels,
                                  int channels, unsigned thread) {
    int const end = group.channels(conv);
    for (int pixel = static_cast<int>(thread); pixel < pixels; pixel += 128) {
        unsigned char* const row = x + pixel * 128;
        auto const zero = [&](int c) {
            *reinterpret_cast<std::uint16_t*>(row + (c / 8 ^ pixel % 8) * 16 + c % 8 * 2) = 0;
        };
        for (int c = 0; c < group.c_shift; ++c) zero(c);
        for (int c = end; c < channels; ++c) zero(c);
    }
}

/// Stores the group's channels of `rows` rows of y, staged in SMEM at `staged` as swizzled rows of 128 bytes, `pitch`
/// pixels per row, from row `first` of image n on; by the 128 threads of a warpgroup.
template <class U, class Problem>
__device__ void store_group(HaloGroup<true> const& group, Problem const& conv, U* y, unsigned char const* staged, int n,
                            int first, int rows, int pitch, unsigned thread) {
    int const count = conv.group_k(), q_end = static_cast<int>(conv.y[3]), lane = static_cast<int>(thread % 32),
              warp = static_cast<int>(thread / 32);
    Index<4> const& stride = conv.y_stride;
    auto const store = [&](auto word) {
        using Word = decltype(word);
        constexpr int unit = static_cast<int>(sizeof(Word) / sizeof(U)), at_once = 7;
        for (int in_group = lane * unit; in_group < count; in_group += 32 * unit) {
            int const k = in_group + group.k_shift;
            U* const to = y + n * stride[0] + first * stride[2] + group.first_k() + k;
#pragma unroll 1
            for (int p = 0; p < rows; ++p) {
#pragma unroll 1
                for (int q = warp; q < q_end; q += 4 * at_once) {
                    Word words[at_once];
#pragma unroll
                    for (int i = 0; i < at_once; ++i) {
                        int const pixel = p * pitch + (min)(q + 4 * i, q_end - 1);
                        words[i] =
                            *reinterpret_cast<Word const*>(staged + pixel * 128 + (k / 8 ^ pixel % 8) * 16 + k % 8 * 2);
                    }
#pragma unroll
                    for (int i = 0; i < at_once; ++i)
                        if (q + 4 * i < q_end)
                            *reinterpret_cast<Word*>(to + p * stride[2] + (q + 4 * i) * stride[3]) = words[i];
                }
            }
        }
    };
    if (count % 2 == 0) store(std::uint32_t{});
    else store(std::uint16_t{});
}

}  // namespace fusekit::hip
