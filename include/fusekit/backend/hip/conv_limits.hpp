// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/runtime/launch.hpp"
#include "fusekit/tensor/collapse.hpp"

namespace fusekit::hip::detail {

/// The range of offsets that steps from an element lead to, in elements.
class OffsetRange {
public:
    /// Adds up to `steps` steps of a stride.
    void add(std::int64_t steps, std::int64_t stride) {
        std::int64_t far = 0;
        std::int64_t& end = stride < 0 ? low : high;
        known = known && !__builtin_mul_overflow(steps, stride, &far) && !__builtin_add_overflow(end, far, &end);
    }
    bool fits_32_bits() const { return known && low >= INT32_MIN && high <= INT32_MAX; }

private:
    std::int64_t low = 0, high = 0;
    bool known = true;  ///< without overflow
};

/// The same view where modes of one element have stride 0: theirs lead nowhere, but windows in padding step along them.
template <class T>
TensorView<T> without_idle_strides(TensorView<T> view) {
    for (int mode = 0; mode < 4; ++mode)
        if (view.layout.shape[mode] == 1) view.layout.stride[mode] = 0;
    return view;
}

/// An operand that a schedule cannot run over, in an error's words.
struct FarOperand {
    char const *operator_name, *argument, *expected;
    Layout<4> const* layout;  ///< null where there is none
    bool of_matrices = false;

    Text strides() const {
        Index<4> const& all = layout->stride;
        bool const weights = of_matrices && layout->shape.space != 0;
        return weights ? to_string(Index<2>{{all[0], all[1]}}) : strides_of(*layout);
    }
};

/// The operand in which an implicit GEMM would need steps of more than 32 bits. A window and a filter begin anywhere:
/// what counts is how far taps lie from there, those that some window has in the image, and how far channels of y lie
/// apart.
template <int Space>
FarOperand too_far_for_gemm(Filter<Space> const& filter, Layout<4> const& x, Layout<4> const& weights,
                            Layout<4> const& y) {
    Index<Space + 2> const image = expand<Space + 2>(x.shape);
    auto const steps = [&](int mode) {
        std::int64_t const window = (std::int64_t{filter.size[mode]} - 1) * filter.dilations[mode],
                           to_last = image[2 + mode] - 1 + filter.pad_before[mode];
        return window < to_last ? window : to_last;
    };
    std::int64_t const steps_in_x[] = {0, weights.shape[1] - 1, Space == 3 ? steps(0) * image[3] + steps(1) : steps(0),
                                       steps(Space - 1)};
    OffsetRange in_x, in_weights, in_y;
    for (int mode = 1; mode < 4; ++mode) {
        if (x.shape[mode] > 1) in_x.add(steps_in_x[mode], x.stride[mode]);
        in_weights.add(weights.shape[mode] - 1, weights.stride[mode]);
    }
    in_y.add(y.shape[1] > 1, y.stride[1]);
    if (x.shape.space == 0) {
        if (!in_x.fits_32_bits())
            return {"x", "strides", "rows that reach less than 2^31 elements far, or a Direct schedule", &x, true};
        if (!in_weights.fits_32_bits())
            return {"Gemm", "weights", "rows that reach less than 2^31 elements far, or a Direct schedule", &weights,
                    true};
        return {"y", "strides", "columns less than 2^31 elements apart, or a Direct schedule",
                in_y.fits_32_bits() ? nullptr : &y, true};
    }
    if (!in_x.fits_32_bits())
        return {"x", "strides", "windows that reach less than 2^31 elements far, or a Direct schedule", &x};
    if (!in_weights.fits_32_bits())
        return {"Conv", "weights", "filters that reach less than 2^31 elements far, or a Direct schedule", &weights};
    return {"y", "strides", "channels less than 2^31 elements apart, or a Direct schedule",
            in_y.fits_32_bits() ? nullptr : &y};
}

/// Kernels count pixels, channels, products and the places of padded images in 32 bits.
template <int Space>
Refusal refuse_conv_limits(Text (*plan)(), Filter<Space> const& filter, Shape<4> const& x, Shape<4> const& weights,
                           Shape<4> const& y) {
    constexpr std::int64_t most = std::int64_t{1} << 30;
    Refusal refusal;
    auto const check = [&](char const* tensor, char const* expected, Shape<4> const& shape, std::int64_t value,
                           std::int64_t limit) {
        if (!refusal) refusal = refuse_limit(plan, tensor, expected, shape, value, limit);
    };
    auto const check_extents = [&](char const* tensor, Shape<4> const& shape) {
        for (int mode = 0; mode < 4; ++mode) check(tensor, "extents below 2^30", shape, shape[mode], most);
        char const* const pixels = shape.space == 0 ? "fewer than 2^30 rows" : "fewer than 2^30 pixels";
        if (!refusal) check(tensor, pixels, shape, shape[0] * shape[2] * shape[3], most);
    };
    check_extents("x", x);
    check_extents("y", y);
    std::int64_t products = 0;
    if (__builtin_mul_overflow(weights[1] * weights[2], weights[3], &products)) products = most;
    check("weights", "fewer than 2^30 products an output", weights, products, most);
    Index<Space + 2> const image = expand<Space + 2>(x);
    std::int64_t padded[3];
    auto const check_places = [&](std::int64_t places) {
        check("x", "fewer than 2^31 rows and columns, with the padding", x, places, std::int64_t{1} << 31);
    };
    for (int mode = 0; mode < Space; ++mode)
        check_places(padded[mode] = image[2 + mode] + filter.pad_before[mode] + filter.pad_after[mode]);
    if (Space == 3 && !refusal) check_places((padded[0] + 1) * padded[1]);  // rows of all slices
    return refusal;
}

}  // namespace fusekit::hip::detail
