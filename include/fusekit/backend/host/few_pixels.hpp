// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/lane_coord.hpp"
#include "fusekit/backend/host/pack.hpp"
#include "fusekit/backend/host/tiling.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

namespace detail {

/// Clears the lanes of a mask, infinities and NaN too.
template <class Register>
[[gnu::always_inline]] inline Register last_lanes(Register v, Integers dropped) {
    return config::bit_cast<Register>(config::bit_cast<Integers>(v) & ~dropped);
}

/// Dot products of one row x with `lanes` rows of `length` weights, `stride` elements apart: lane i has the product
/// with row i. Elements that do not fill a vector are read as the last lanes of the vector that ends with the row.
template <class W, class Acc>
[[gnu::noinline]] Vector dot_rows(Acc const* x, W const* weights, std::int64_t stride, std::int64_t length) {
    using Register = RegisterOf<Acc>;
    return [&]<int... Row>(std::integer_sequence<int, Row...>) {
        Register sum[] = {(void(Row), Register{})...};
        std::int64_t k = 0;
        for (; k + lanes <= length; k += lanes) {
            Register const own = load(x + k);
            ((sum[Row] += own * load_widened_to<Acc>(weights + Row * stride + k)), ...);
        }
        if (int const rest = static_cast<int>(length - k); rest > 0 && k > 0) {
            Integers const dropped = first_lanes(lanes - rest);
            Register const own = last_lanes(load(x + length - lanes), dropped);
            ((sum[Row] += own * last_lanes(load_widened_to<Acc>(weights + Row * stride + length - lanes), dropped)),
             ...);
        } else if (rest > 0) {
            Register own{};
            for (int i = 0; i < rest; ++i) own[i] = x[i];
            ((sum[Row] += own * load_widened_to<Acc>(weights + Row * stride, 1, rest)), ...);
        }
        transpose(sum);
        Register total{};
        ((total += sum[Row]), ...);
        return floats(total);
    }(std::make_integer_sequence<int, lanes>{});
}

}  // namespace detail

/// Convolution of few output pixels, as of 1x1 images, with filters that are contiguous rows: each weight is read once
/// per pixel, from the user's memory. Packing filters for ConvChannelLanes takes longer than multiplying them.
template <class Epilogue, Element T, detail::OutputElement U, int Space, Element W = T, class Geometry = Filter<Space>>
class FewPixels {
    using Problem = ConvProblem<T, Space, W, problem::ChannelGroups, Geometry>;
    using Acc = detail::AccumulatorOf<T>;

public:
    static constexpr char const* name = "FewPixels";

    static constexpr std::int64_t max_pixels = 8;

    FewPixels(int the_threads, Problem const& the_conv, typename Epilogue::Args const& the_args,
              TensorView<U> const& the_y)
        : threads(the_threads), conv(the_conv), args(the_args), y(the_y) {}

    /// True if y has few pixels, and each filter is a contiguous row in the order of pack_pixel_row().
    bool fits() const {
        return conv.gemm_m() <= max_pixels && gemm_k > 0 && weights_are(conv, GemmKOrder{1, conv.group_c()});
    }

    std::int64_t scratch_floats() const { return conv.groups() * conv.gemm_m() * row_stride; }

    void run(Device::RunContext& context) {
        if (context.only_packs()) return;
        rows = reinterpret_cast<Acc*>(context.scratch(scratch_floats()));
        std::int64_t const pixels = conv.gemm_m();
        for (std::int64_t row = 0; row < conv.groups() * pixels; ++row)
            pack_pixel_row(rows + row * row_stride, conv, conv.pixel(row % pixels), conv.first_c(row / pixels));
        context.parallel_for(detail::divide_up(blocks, item), [this](std::int64_t number, int) {
            for (std::int64_t b = number * item; b < (min)(blocks, (number + 1) * item); ++b)
                run_block(b / blocks_of_group, b % blocks_of_group * lanes);
        });
    }

private:
    /// Weights of a work item, at least: below, other threads cost more than they save.
    static constexpr std::int64_t item_weights = 32 * 1024;

    int const threads;
    Problem const& conv;
    typename Epilogue::Args const& args;
    TensorView<U> const& y;

    std::int64_t const gemm_k = conv.gemm_k(), group_k = conv.group_k(), row_stride = packed_row_stride(gemm_k);
    std::int64_t const blocks_of_group = detail::divide_up(group_k, lanes), blocks = blocks_of_group * conv.groups();
    std::int64_t const item = (max)(detail::divide_up(item_weights, (max)(1, gemm_k* lanes)),
                                    detail::divide_up(blocks, 4 * std::int64_t{threads}));
    Acc* rows = nullptr;  // (groups, pixels, row_stride): windows

    /// Computes all pixels of `lanes` filters of a group, from filter k on.
    void run_block(std::int64_t group, std::int64_t k) const {
        int const used = static_cast<int>((min)(lanes, group_k - k));
        std::int64_t const stride = conv.w.layout.stride[0], first = conv.first_k(group) + k;
        W const* const weights = conv.weights_of(group) + k * stride;
        auto const state = Epilogue::template prepare_lanes<Vector>(first, used, args);
        for (std::int64_t m = 0; m < conv.gemm_m(); ++m) {
            Acc const* const x = rows + (group * conv.gemm_m() + m) * row_stride;
            Vector const sum =
                used == lanes ? detail::dot_rows(x, weights, stride, gemm_k) : last_rows(x, weights, stride, used);
            Pixel const at = conv.pixel(m);
            LaneCoord<detail::Axis::channel> const coord{{at.n, first, at.p, at.q}, used, conv.y[3]};
            store(&y(at.n, first, at.p, at.q), y.layout.stride[1], used,
                  Epilogue::apply(sum, coord, state, args, [](Vector) {}));
        }
    }

    /// dot_rows() of fewer than `lanes` filters, one at a time.
    Vector last_rows(Acc const* x, W const* weights, std::int64_t stride, int used) const {
        Vector sum{};
        for (int i = 0; i < used; ++i) sum[i] = detail::dot_rows(x, weights + i * stride, 0, gemm_k)[0];
        return sum;
    }
};

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
