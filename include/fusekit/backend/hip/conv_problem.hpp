// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/async_copy.hpp"
#include "fusekit/backend/hip/slabs.hpp"
#include "fusekit/problem/conv.hpp"

namespace fusekit::hip {

/// Pixel (n, p, q) of an output; n is -1 for an index past the last pixel.
using Pixel = problem::PixelOf<std::int32_t>;

/// An index of GemmK as a coordinate: channel c of x within its group, and tap (r, s). In a volume r counts the
/// filter's rows through all its slices.
struct KCoord {
    std::int32_t c, r, s;
};

/// One row of GemmM or GemmN: for a pixel of y, the address of the element of x that the first tap of its window reads;
/// for a filter, the address of its first weight. `valid` has a bit for each slice, row and column of the window, set
/// if inside the image.
template <Element T>
struct RowPointer {
    T const* first;
    std::uint32_t valid;
};

/// Offset, in elements, of an index of GemmK from a RowPointer's `first`, and a mask of the bits that must be set in
/// its `valid`; if one is not set, the tap reads padding and the operand is zero.
struct alignas(8) KOffset {
    std::int32_t offset;
    std::uint32_t mask;

    /// most(): largest number of slices, rows or columns of a window for which the mask has bits. bit(): bit of slice,
    /// row or column i (by `mode`); indices from most() on share the last bit, which is right for windows without
    /// padding. `never`: a bit that is not set in any RowPointer, for indices of GemmK past the end.
    FUSEKIT_HD static constexpr int most(int space) { return 30 / space; }
    FUSEKIT_HD static constexpr std::uint32_t bit(int space, int mode, int i) {
        return 1u << (most(space) * mode + (min)(i, most(space) - 1));
    }
    static constexpr std::uint32_t never = 1u << 31;
};

/// True if the tap reads an element inside the image; else the operand is zero.
template <Element T>
__device__ bool has(RowPointer<T> const& row, KOffset const& offset) {
    return (offset.mask & ~row.valid) == 0;
}

template <int Count, Element T>
__device__ Packet<T, Count> load(RowPointer<T> const& row, KOffset const& offset) {
    using From = Packet<T, Count> const*;
    if constexpr (sizeof(T) < 4)
        return Zeros().load_if(has(row, offset), reinterpret_cast<From>(row.first + offset.offset));
    else return load_if(has(row, offset), reinterpret_cast<From>(row.first + offset.offset));
}

/// Copies Count consecutive floats of x or the weights, from `offset` elements after the first of a GEMM row on,
/// asynchronously to SMEM address `to`; zeros if the filter tap that `offset` stands for reads padding.
template <int Count>
__device__ void copy(RowPointer<float> const& row, KOffset const& offset, float* to) {
    copy_async<4 * Count>(to, row.first + offset.offset, has(row, offset));
}

/// A convolution as the functions of a kernel use it: of all images or, in large batches, of a range of images
/// (slabs.hpp). Extents, GemmM and GemmK are below 2^30; offsets within a row of a GEMM operand fit 32 bits
/// (conv_limits.hpp).
template <Element T, int Space, Element W = T, class Groups = problem::ChannelGroups, class Geometry = Filter<Space>>
struct ConvProblem : problem::ConvProblem<T, Space, std::int32_t, W, Groups, Geometry> {
    using Base = problem::ConvProblem<T, Space, std::int32_t, W, Groups, Geometry>;
    using SpaceCoord = PerMode<Space>;  ///< (slice, row, column), or (row, column) for two spatial modes
    using Base::extent, Base::filter, Base::group_c, Base::group_k, Base::window_columns, Base::window_rows;
    using Base::x, Base::w, Base::y;

    Index<4> y_stride;
    problem::Slices<Space> slices;
    int first_image = 0;  ///< index in the batch of the first image of the range
    unsigned first_tile = 0;  ///< index of the first tile of the range of images, or of the phase (conv_phases.hpp)

    /// Restricts the problem to the range of images that contains the tile of CTA `block`.
    __device__ void enter(Slabs const& slabs, unsigned block) {
        Slabs::Start const start = slabs.of(block);
        first_image = start.image, first_tile = start.tile;
        y[0] = (min)(extent(y, 0) - start.image, slabs.images);
    }

    __device__ Pixel pixel(int m, int group = 0) const {
        if (m >= Base::gemm_m()) return {-1, 0, 0};
        return of_batch(Base::pixel(m, group));
    }
    /// Pixel (n, p, q) with index m of GemmM. Precondition: m < GemmM, which the other functions test.
    __device__ Pixel existing_pixel(int m) const { return of_batch(Base::pixel(m)); }
    __device__ Pixel pixel_of_windows(int m) const {
        if (m >= Base::gemm_m()) return {-1, 0, 0};
        return of_batch(Base::pixel_of_windows(m));
    }
    __device__ Pixel pixel_of_even_rows(int m) const {
        if (m >= Base::gemm_m() / 2) return {-1, 0, 0};
        return of_batch(Base::pixel_of_even_rows(m));
    }
    __device__ std::int64_t output_offset(Pixel const& at) const {
        return at.n * y_stride[0] + at.p * y_stride[2] + at.q * y_stride[3];
    }

    /// window(): coordinates in x of the element that the first tap of an output pixel's window reads, negative in the
    /// padding. distance(): coordinates of tap (r, s) relative to the first tap. For a transposed convolution both
    /// count the zeros inserted between x's elements.
    __device__ SpaceCoord window(Pixel const& at) const {
        SpaceCoord coord = expanded(at.p, at.q, height_of_y());
        for (int mode = 0; mode < Space; ++mode) coord[mode] = detail::first_tap(filter, mode, coord[mode]);
        return coord;
    }
    __device__ SpaceCoord distance(int r, int s) const {
        SpaceCoord coord = tap(r, s);
        for (int mode = 0; mode < Space; ++mode) coord[mode] = detail::tap_distance(filter, mode, coord[mode]);
        return coord;
    }
    __device__ bool has(SpaceCoord const& first, SpaceCoord const& distance) const {
        bool inside = true;
        for (int mode = 0; mode < Space; ++mode) inside = inside && has(mode, first[mode] + distance[mode]);
        return inside;
    }
    /// Offset, in elements within a channel's plane of x, of coordinates or of a distance between coordinates. The
    /// offset of a tap is that of the window's first tap plus that of the distance. A transposed convolution divides
    /// coordinates by the strides: first taps, which are not negative, are rounded down, and distances, which are not
    /// positive, up; the sum is exact where x has an element.
    __device__ std::int64_t input_offset(SpaceCoord coord) const {
        if constexpr (detail::spreads<Geometry>) {
            for (int mode = 0; mode < Space; ++mode) coord[mode] /= filter.of_y().strides[mode];
        }
        int const row = Space == 3 ? coord[0] * height_of_x() + coord[1] : coord[0];
        return row * stride(x, 2) + coord[Space - 1] * stride(x, 3);
    }

    /// RowPointer of an output pixel, into x. If `padded`, tests each row and column of the window against the image:
    /// in selects, not branches, or in loops where AMD's scalar registers cannot hold the conditions of all taps.
    template <bool padded>
    __device__ RowPointer<T> input_row(Pixel const& at, int group) const {
        if (at.n < 0) return {x.data, 0};
        SpaceCoord const first = window(at);
        std::uint32_t bits = 0;
        if constexpr (padded) {
            for (int mode = 0; mode < Space; ++mode) {
                auto const ask = [&](int i) {
                    if (has(mode, first[mode] + detail::tap_distance(filter, mode, i)))
                        bits |= KOffset::bit(Space, mode, i);
                };
                if constexpr (detail::spreads<Geometry>) {
#pragma unroll 1
                    for (int i = 0; i < filter.size[mode]; ++i) ask(i);
                } else {
                    for (int i = 0; i < filter.size[mode]; ++i) ask(i);
                }
            }
        }
        return {x.data + at.n * stride(x, 0) + Base::first_c(group) * stride(x, 1) + input_offset(first), bits};
    }
    __device__ RowPointer<W> weight_row(int k, int group) const {
        int const in_group = k < group_k() ? k : group_k() - 1;
        if constexpr (Base::of_channels && !detail::is_transposed<Geometry>)
            return {w.data + (group * group_k() + in_group) * stride(w, 0), 0};
        else return {Base::weights_of(group) + in_group * stride(w, 0), 0};
    }

    /// filter_stride(): distance in elements between consecutive filters. end_of_filters(): address past the last
    /// weight of a group. Precondition: filters have ascending addresses.
    __device__ std::int64_t filter_stride() const { return w.layout.shape[0] > 1 ? stride(w, 0) : 0; }
    __device__ W const* end_of_filters(int group) const {
        W const* end = weight_row(group_k() - 1, group).first + 1;
        for (int mode = 1; mode < 4; ++mode)
            if (stride(w, mode) > 0) end += (w.layout.shape[mode] - 1) * stride(w, mode);
        return end;
    }

    /// Offsets in x and in the weights of one index of GemmK.
    struct KOffsets {
        KOffset x, w;
    };
    template <bool padded>
    __device__ KOffsets k_offsets(KCoord const& at) const {
        if (at.c >= group_c() || at.r >= window_rows()) return {{0, KOffset::never}, {0, KOffset::never}};
        std::int64_t const in_x = at.c * stride(x, 1) + input_offset(distance(at.r, at.s));
        std::int64_t const in_w = at.c * stride(w, 1) + at.r * stride(w, 2) + at.s * stride(w, 3);
        std::uint32_t mask = 0;
        if constexpr (padded) {
            SpaceCoord const coord = tap(at.r, at.s);
            for (int mode = 0; mode < Space; ++mode) mask |= KOffset::bit(Space, mode, coord[mode]);
        }
        return {{static_cast<std::int32_t>(in_x), mask}, {static_cast<std::int32_t>(in_w), 0}};
    }

    /// Number of columns by which the load of four elements of x, for the first (`left`) or last four pixels of a row
    /// of y at filter column s, is moved to the right so that it stays inside the row of x (copy/amd/quad_loads.hpp). 0
    /// if x has fewer than four columns.
    __device__ int shift_of_quad(bool left, int s) const {
        int const last = extent(y, 3) - 4, most = extent(x.layout.shape, 3) - 4;
        int const column =
            detail::first_tap(filter, Space - 1, left ? 0 : last) + detail::tap_distance(filter, Space - 1, s);
        if (most < 0) return 0;
        return (column < 0 ? 0 : column > most ? most : column) - column;
    }

    /// Channel and tap of an index of GemmK, with channels or taps as the fastest mode. For an index past the end, c or
    /// r is past its last value.
    __device__ KCoord k_coord(unsigned index, bool channels_fastest) const {
        auto const channels = static_cast<unsigned>(group_c()), columns = static_cast<unsigned>(window_columns());
        unsigned const taps = static_cast<unsigned>(window_rows()) * columns;
        unsigned const c = channels_fastest ? index % channels : index / taps;
        unsigned const tap = channels_fastest ? index / channels : index % taps;
        return {static_cast<int>(c), static_cast<int>(tap / columns), static_cast<int>(tap % columns)};
    }

    /// extent_of_y(): extent of y in one spatial mode. collapsed_row(): row of a coordinate, counted through all slices
    /// of a volume.
    __device__ int extent_of_y(int mode) const {
        if constexpr (Space == 3)
            if (mode == 0) return static_cast<int>(slices.y);
        return mode == Space - 1 ? extent(y, 3) : height_of_y();
    }
    __device__ int collapsed_row(SpaceCoord const& coord) const {
        return Space == 3 ? coord[0] * height_of_y() + coord[1] : coord[0];
    }

protected:
    /// Pixel with the image counted from the first image of the batch, for one counted from that of this range.
    __device__ Pixel of_batch(Pixel const& at) const { return {at.n + first_image, at.p, at.q}; }

private:
    template <class View>
    __device__ static std::int64_t stride(View const& view, int mode) {
        return view.layout.stride[mode];
    }
    /// Number of rows of one slice of x (height_of_x) and of y (height_of_y).
    __device__ int height_of_x() const {
        if constexpr (Space == 3) return extent(x.layout.shape, 2) / static_cast<int>(slices.x);
        else return extent(x.layout.shape, 2);
    }
    __device__ int height_of_y() const {
        if constexpr (Space == 3) return extent(y, 2) / static_cast<int>(slices.y);
        else return extent(y, 2);
    }
    __device__ static SpaceCoord expanded(int row, int column, int height) {
        if constexpr (Space == 3) return {row / height, row % height, column};
        else return {row, column};
    }
    __device__ SpaceCoord tap(int r, int s) const { return expanded(r, s, filter.size[Space - 2]); }

    /// True if index `at` in one spatial mode is inside x.
    __device__ bool has(int mode, int at) const {
        int most = mode == Space - 1 ? extent(x.layout.shape, 3) : height_of_x();
        if constexpr (Space == 3)
            if (mode == 0) most = static_cast<int>(slices.x);
        if constexpr (detail::spreads<Geometry>) {
            int const step = filter.of_y().strides[mode];
            return at % step == 0 &&
                   static_cast<unsigned>(at) < static_cast<unsigned>(most) * static_cast<unsigned>(step);
        }
        return static_cast<unsigned>(at) < static_cast<unsigned>(most);
    }
};

}  // namespace fusekit::hip
