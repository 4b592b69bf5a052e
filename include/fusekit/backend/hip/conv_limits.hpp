// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/backend/hip/runtime/launch.hpp"
#include "fusekit/problem/conv.hpp"
#include "fusekit/tensor/collapse.hpp"
#include "fusekit/tensor/filter.hpp"

namespace fusekit::hip::detail {

/// Lowest and highest offset, in elements from a base element, of the elements that a kernel reads relative to the
/// base.
class OffsetRange {
public:
    /// Extends the range by 0 to `steps` steps of `stride` elements.
    FUSEKIT_H constexpr void add(std::int64_t steps, std::int64_t stride) {
        std::int64_t reach = 0;
        known = known && !fusekit::detail::mul_overflows(steps, stride, reach);
        std::int64_t& end = reach < 0 ? low : high;
        known = known && !fusekit::detail::add_overflows(end, reach, end);
    }
    FUSEKIT_H constexpr bool fits_32_bits() const { return known && low >= INT32_MIN && high <= INT32_MAX; }
    /// True if the byte offsets of AMD's 32-bit buffer loads (Buffer) reach all elements in the range; an element has
    /// `bytes` bytes.
    FUSEKIT_H constexpr bool fits_buffer(int bytes) const {
        constexpr std::int64_t bias = Buffer::bias, after = std::int64_t{Buffer::out_of_bounds} - bias - 16;
        return known && low >= -bias / bytes && high <= after / bytes;
    }

private:
    std::int64_t low = 0, high = 0;
    bool known = true;  ///< false if an offset overflowed 64 bits
};

/// Sets the stride to 0 in modes of extent 1, along which kernels would otherwise step into the padding and overflow
/// 32-bit offsets. A view without elements gets a stride of 0 in all modes.
template <class T>
FUSEKIT_H constexpr TensorView<T> without_idle_strides(TensorView<T> view) {
    bool const empty = has_no_elements(view.layout.shape);
    for (int mode = 0; mode < 4; ++mode)
        if (empty || view.layout.shape[mode] == 1) view.layout.stride[mode] = 0;
    return view;
}

template <class Geometry>
inline constexpr char const* name_of_conv = is_transposed<Geometry> ? "TransposedConv" : "Conv";

/// Operand whose 32-bit offsets in an implicit GEMM would overflow.
enum class OversizedOperand { none, x, weights, y };

/// Number of elements, in one mode, from a window's first tap to its last tap inside an image of extent `image`.
template <int Space>
FUSEKIT_H constexpr std::int64_t steps_to_last_tap(Filter<Space> const& filter, int mode, Extent image) {
    std::int64_t const window = (std::int64_t{filter.size[mode]} - 1) * filter.dilations[mode],
                       to_last = image - 1 + filter.pad_before[mode];
    return window < to_last ? window : to_last;
}
template <int Space, bool Spreads>
FUSEKIT_H constexpr std::int64_t steps_to_last_tap(TransposedFilter<Space, Spreads> const& filter, int mode, Extent) {
    return tap_distance(filter, mode, std::int64_t{filter.size[mode]} - 1) / filter.of_y().strides[mode];
}

/// Returns the first operand for which a 32-bit offset, in elements, would overflow: from the start of a window or
/// filter to its taps inside the image, or from a channel of y to the next. The starts themselves have 64-bit
/// addresses.
template <class Geometry>
FUSEKIT_H constexpr OversizedOperand oversized_operand(Geometry const& filter, detail::CollapsedLayout<4> const& x,
                                                       detail::CollapsedLayout<4> const& weights, Layout<4> const& y) {
    constexpr int Space = Geometry::rank;
    Index<Space + 2> const image = detail::expand<Space + 2>(x.shape);
    auto const steps = [&](int mode) { return steps_to_last_tap(filter, mode, image[2 + mode]); };
    std::int64_t const steps_in_x[] = {0, weights.shape[1] - 1, Space == 3 ? steps(0) * image[3] + steps(1) : steps(0),
                                       steps(Space - 1)};
    OffsetRange in_x, in_weights, in_y;
    for (int mode = 1; mode < 4; ++mode) {
        if (x.shape[mode] > 1) in_x.add(steps_in_x[mode], x.stride[mode]);
        in_weights.add(weights.shape[mode] - 1, weights.stride[mode]);
    }
    in_y.add(y.shape[1] > 1, y.stride[1]);
    if (!in_x.fits_32_bits()) return OversizedOperand::x;
    if (!in_weights.fits_32_bits()) return OversizedOperand::weights;
    return in_y.fits_32_bits() ? OversizedOperand::none : OversizedOperand::y;
}

/// True if the 32-bit byte offsets of a Buffer reach, from the first window of a tile, the windows of `tile`
/// consecutive pixels and, from the first filter, the tile's filters. Images, rows and columns may have any order in
/// memory.
template <int Space, Element T>
FUSEKIT_H constexpr bool windows_fit_buffer(Filter<Space> const& filter, TensorView<T const> const& x,
                                            problem::Slices<Space> const& slices, Layout<4> const& weights,
                                            Index<4> const& y, std::int64_t tile) {
    Index<4> const& shape = x.layout.shape;
    auto const padding = [&](int mode) { return filter.pad_before[mode] + filter.pad_after[mode]; };
    std::int64_t images = y[0] - 1, rows = shape[2] + padding(0), columns = shape[3] + padding(Space - 1);
    if constexpr (Space == 3) rows = (slices.x + padding(0)) * (shape[2] / slices.x);
    if (tile / (y[2] * y[3]) + 1 < images) images = tile / (y[2] * y[3]) + 1;
    if (tile * filter.strides[Space - 1] < columns) columns = tile * filter.strides[Space - 1];
    OffsetRange range;
    for (int mode = 1; mode < 4; ++mode) {  // offsets of taps and channels
        std::int64_t const steps = mode == 1 ? weights.shape[1] - 1 : mode == 2 ? rows : shape[3] + padding(Space - 1);
        if (weights.shape[mode] > 1) range.add(steps, x.layout.stride[mode]);
    }
    range.add(images, x.layout.stride[0]);
    // offsets from pixel to pixel; a new row begins at the left, a new image at the top
    for (int const direction : {1, -1}) {
        if (y[2] > 1 || direction > 0) range.add(columns, direction * x.layout.stride[3]);
        if (y[2] > 1) range.add(rows, direction * x.layout.stride[2]);
        if (y[0] > 1 && y[2] == 1 && direction < 0) range.add(columns, -x.layout.stride[3]);
    }
    return range.fits_buffer(sizeof(T));
}
/// True if the 32-bit byte offsets of a Buffer reach all of x, and the padding that a transposed convolution's windows
/// read.
template <int Space, bool Spreads, Element T>
FUSEKIT_H constexpr bool transposed_windows_fit_buffer(TransposedFilter<Space, Spreads> const& transposed,
                                                       TensorView<T const> const& x) {
    Filter<Space> const& filter = transposed.of_y();
    auto const reach = [&](int mode) {
        std::int64_t const taps = std::int64_t{filter.size[mode]} * filter.dilations[mode];
        return taps + filter.pad_before[mode] + filter.pad_after[mode];
    };
    Index<4> const &shape = x.layout.shape, &stride = x.layout.stride;
    std::int64_t const rows = Space == 3 ? reach(0) * shape[2] + reach(1) : reach(0);
    OffsetRange range;
    for (int const mode : {0, 1}) range.add(shape[mode] - 1, stride[mode]);
    for (int const direction : {1, -1}) {
        range.add(shape[2] + rows, direction * stride[2]);
        range.add(shape[3] + reach(Space - 1), direction * stride[3]);
    }
    return range.fits_buffer(sizeof(T));
}
template <Element T>
FUSEKIT_H constexpr bool filters_fit_buffer(Layout<4> const& weights, std::int64_t tile) {
    OffsetRange range;
    range.add(tile, weights.stride[0]);
    for (int mode = 1; mode < 4; ++mode) range.add(weights.shape[mode] - 1, weights.stride[mode]);
    return (weights.shape[0] == 1 || weights.stride[0] >= 0) && range.fits_buffer(sizeof(T));
}

/// True if each quad (four consecutive pixels of a row of y, from a multiple of four on) reads four consecutive
/// elements of x at each tap, and only the first and last quads of a row read padding (QuadOffsets).
template <int Space, Element T>
FUSEKIT_H constexpr bool has_quads(Filter<Space> const& filter, TensorView<T const> const& x, Index<4> const& y) {
    Index<4> const &shape = x.layout.shape, &stride = x.layout.stride;
    if (stride[3] != 1) return false;
    if (is_single_pixels(filter) && (shape[2] == 1 || stride[2] == shape[3])) return shape[2] * shape[3] % 4 == 0;
    constexpr int columns = Space - 1;
    std::int64_t const left = filter.pad_before[columns],
                       window = (std::int64_t{filter.size[columns]} - 1) * filter.dilations[columns],
                       last_inside = y[3] > 8 ? y[3] - 8 : 0;  // first column of the row's last quad but one
    return filter.strides[columns] == 1 && y[3] % 4 == 0 && y[3] >= 8 && shape[3] >= 4 && left <= 4 &&
           last_inside + 3 + window - left < shape[3];
}

/// Returns an error if the offsets of an operand exceed 32 bits. `gemm` returns the operator's name if x is a batch of
/// matrices.
template <class Geometry>
FUSEKIT_H Refusal refuse_oversized_operands(Text (*plan)(), Text (*gemm)(), Geometry const& filter,
                                            detail::CollapsedLayout<4> const& x,
                                            detail::CollapsedLayout<4> const& weights,
                                            detail::CollapsedLayout<4> const& y) {
    bool const matrices = x.shape.from.kind == CollapsedFrom::matrices;
    auto const error = [&](char const* name, char const* argument, char const* reach, char const* direction,
                           Text strides) {
        return Error(plan(), name, argument,
                     Text(reach) + " less than 2^31 elements " + direction + ", or a Direct schedule",
                     "strides " + strides);
    };
    switch (oversized_operand(filter, x, weights, y.layout())) {
        case OversizedOperand::x:
            return error("x", "strides", matrices ? "rows that reach" : "windows that reach", "far",
                         detail::strides_of(x));
        case OversizedOperand::weights:
            if (matrices)
                return error(gemm().c_str(), "weights", "rows that reach", "far",
                             to_string(Index<2>{{weights.stride[0], weights.stride[1]}}));
            return error(name_of_conv<Geometry>, "weights", "filters that reach", "far", detail::strides_of(weights));
        case OversizedOperand::y:
            return error("y", "strides", matrices ? "columns" : "channels", "apart", detail::strides_of(y));
        case OversizedOperand::none: break;
    }
    return {};
}

/// Returns an error if a count exceeds the 32 bits of kernels: extents of x and y, pixels of an image, products per
/// output, or rows and columns with padding (of x; of y for a transposed convolution). A batch may have more pixels:
/// kernels process it in ranges of images (slabs.hpp).
template <class Geometry>
FUSEKIT_H Refusal refuse_conv_limits(Text (*plan)(), Geometry const& filter, CollapsedShape<4> const& x,
                                     CollapsedShape<4> const& weights, CollapsedShape<4> const& y) {
    constexpr int Space = Geometry::rank;
    constexpr bool of_y = is_transposed<Geometry>;
    constexpr std::int64_t most = std::int64_t{1} << 30;
    struct {
        char const *tensor = nullptr, *expected = nullptr;
        CollapsedShape<4> const* shape = nullptr;
        std::int64_t value = 0, limit = 0;
    } exceeded;  // the first count that exceeds its limit: refused at the end, which compiles to less code
    auto const check = [&](char const* tensor, char const* expected, CollapsedShape<4> const& shape, std::int64_t value,
                           std::int64_t limit) {
        if (!exceeded.tensor && value >= limit) exceeded = {tensor, expected, &shape, value, limit};
    };
    auto const check_extents = [&](char const* tensor, CollapsedShape<4> const& shape) {
        for (int mode = 0; mode < 4; ++mode) check(tensor, "extents below 2^30", shape, shape[mode], most);
        bool const matrices = shape.from.kind == CollapsedFrom::matrices;
        char const* const pixels = matrices ? "matrices of fewer than 2^30 rows" : "images of fewer than 2^30 pixels";
        if (!exceeded.tensor) check(tensor, pixels, shape, shape[2] * shape[3], most);
        if (!exceeded.tensor && matrices) check(tensor, "fewer than 2^30 matrices", shape, shape[0] * shape[2], most);
    };
    check_extents("x", x);
    check_extents("y", y);
    std::int64_t products = 0;
    if (__builtin_mul_overflow(weights[1] * weights[2], weights[3], &products)) products = most;
    check("weights", "fewer than 2^30 products an output", weights, products, most);
    CollapsedShape<4> const& under_windows = of_y ? y : x;
    Index<Space + 2> const image = detail::expand<Space + 2>(under_windows);
    Filter<Space> const moving = [&] {
        if constexpr (of_y) return filter.of_y();
        else return filter;
    }();
    std::int64_t padded[3];
    auto const check_extent = [&](std::int64_t extent) {
        check(of_y ? "y" : "x", "fewer than 2^31 rows and columns, with the padding", under_windows, extent,
              std::int64_t{1} << 31);
    };
    for (int mode = 0; mode < Space; ++mode)
        check_extent(padded[mode] = image[2 + mode] + moving.pad_before[mode] + moving.pad_after[mode]);
    if (Space == 3 && !exceeded.tensor) check_extent((padded[0] + 1) * padded[1]);  // rows of all slices, with padding
    if (!exceeded.tensor) return {};
    return refuse_limit(plan, exceeded.tensor, exceeded.expected, *exceeded.shape, exceeded.value, exceeded.limit);
}

}  // namespace fusekit::hip::detail
