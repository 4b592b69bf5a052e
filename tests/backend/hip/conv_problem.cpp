// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/conv_problem.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;

namespace {

/// Writes both operands of a convolution's implicit GEMM, group by group: windows of x, GemmM x GemmK, and filters, K /
/// G x GemmK, each with one row and one column out of bounds.
template <int Space>
struct WriteOperands : BlockOf<64> {
    struct Params {
        fk::hip::ConvProblem<float, Space> conv;
        bool channels_fastest, by_windows;
        float *windows, *filters;
        std::int64_t* outputs;  ///< offset in y of a pixel's result, for channel 0
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned block) {
        auto const& conv = params.conv;
        int const group = static_cast<int>(block), rows = conv.gemm_m() + 1, indices = conv.gemm_k() + 1;
        for (int i = static_cast<int>(thread); i < rows * indices; i += threads) {
            int const m = i / indices, k = i % indices;
            auto const at = params.by_windows ? conv.pixel_of_windows(m) : conv.pixel(m);
            auto const offsets =
                conv.template k_offsets<true>(conv.k_coord(static_cast<unsigned>(k), params.channels_fastest));
            auto const window = conv.template input_row<true>(at, group);
            params.windows[group * rows * indices + i] = fk::hip::load<1>(window, offsets.x).values[0];
            if (at.n >= 0) params.outputs[m] = conv.output_offset(at);
            if (m >= conv.group_k()) continue;
            auto const filter = conv.weight_row(m, group);
            params.filters[(group * conv.group_k() + m) * indices + k] = fk::hip::load<1>(filter, offsets.w).values[0];
        }
    }
};

std::vector<float> numbers_to(std::int64_t count) {
    std::vector<float> all(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(i + 1);
    return all;
}

/// Compares both operands with their definition, in five modes, and the offsets of the results.
template <int Space>
void check_operands(fk::Layout<Space + 2> const& x, fk::Layout<Space + 2> const& w, fk::Layout<Space + 2> const& y,
                    fk::Filter<Space> const& filter, bool channels_fastest, bool by_windows = false) {
    using fk::detail::collapse, fk::detail::expand;
    fk::hip::Device device = gpu();
    auto const of_x = numbers_to(x.span()), of_w = numbers_to(w.span());
    Array<float> const x_memory(device, of_x), w_memory(device, of_w);
    auto const c_in_group = w.shape[1], groups = x.shape[1] / c_in_group, k_in_group = y.shape[1] / groups;
    fk::Index<5> const image = expand<5>(collapse<4>(x).shape), out = expand<5>(collapse<4>(y).shape),
                       taps = expand<5>(collapse<4>(w).shape);
    auto const gemm_m = out[0] * out[2] * out[3] * out[4], gemm_k = c_in_group * taps[2] * taps[3] * taps[4];
    auto const rows = gemm_m + 1, indices = gemm_k + 1;
    Array<float> const windows(device, static_cast<std::size_t>(groups * rows * indices), -1),
        filters(device, static_cast<std::size_t>(groups * k_in_group * indices), -1);
    Array<std::int64_t> const outputs(device, static_cast<std::size_t>(gemm_m), -1);
    REQUIRE(k_in_group <= rows);
    fk::problem::Slices<Space> slices{};
    if constexpr (Space == 3) slices = {x.shape[2], y.shape[2]};
    run_blocks<WriteOperands<Space>>(device,
                                     {{{{x_memory.data(), collapse<4>(x).layout()},
                                        {w_memory.data(), collapse<4>(w).layout()},
                                        collapse<4>(y).shape,
                                        filter},
                                       collapse<4>(y).stride,
                                       slices},
                                      channels_fastest,
                                      by_windows,
                                      windows.data(),
                                      filters.data(),
                                      outputs.data()},
                                     groups);

    auto const in_five = [](fk::Layout<Space + 2> const& layout, std::int64_t a, std::int64_t b, std::int64_t d,
                            std::int64_t h, std::int64_t column) {
        if constexpr (Space == 3) return layout.offset({{a, b, d, h, column}});
        else return layout.offset({{a, b, h, column}});
    };
    int const front = Space - 3;  // index of the filter's mode 0 among three
    auto const coord_of = [&](int mode, std::int64_t p, std::int64_t r) {
        int const own = mode + front;
        return own < 0 ? 0 : p * filter.strides[own] - filter.pad_before[own] + r * filter.dilations[own];
    };
    std::vector<float> expected_windows, expected_filters;
    std::vector<std::int64_t> expected_outputs;
    for (std::int64_t g = 0; g < groups; ++g)
        for (std::int64_t m = 0; m < rows; ++m) {
            auto p = m / out[4] % (out[2] * out[3]), q = m % out[4], n = m / (out[2] * out[3] * out[4]);
            if (by_windows) {
                auto const window = m / 4, per_image = out[3] / 2 * (out[4] / 2);
                n = window / per_image;
                p = window % per_image / (out[4] / 2) * 2 + m % 4 / 2;
                q = window % (out[4] / 2) * 2 + m % 2;
            }
            auto const o = p / out[3], row = p % out[3];
            if (g == 0 && m < gemm_m) expected_outputs.push_back(in_five(y, n, 0, o, row, q));
            for (std::int64_t k = 0; k < indices; ++k) {
                auto const tap_count = taps[2] * taps[3] * taps[4];
                auto const c = channels_fastest ? k % c_in_group : k / tap_count,
                           tap = channels_fastest ? k / c_in_group : k % tap_count, t = tap / (taps[3] * taps[4]),
                           r = tap / taps[4] % taps[3], s = tap % taps[4];
                auto const d = coord_of(0, o, t), h = coord_of(1, row, r), column = coord_of(2, q, s);
                bool const inside = k < gemm_k && m < gemm_m && d >= 0 && d < image[2] && h >= 0 && h < image[3] &&
                                    column >= 0 && column < image[4];
                expected_windows.push_back(
                    inside ? of_x[static_cast<std::size_t>(in_five(x, n, g * c_in_group + c, d, h, column))] : 0);
                if (m < k_in_group)
                    expected_filters.push_back(
                        k < gemm_k ? of_w[static_cast<std::size_t>(in_five(w, g * k_in_group + m, c, t, r, s))] : 0);
            }
        }
    CAPTURE(filter.to_string().c_str(), channels_fastest, by_windows);
    CHECK(windows.values() == expected_windows);
    CHECK(filters.values() == expected_filters);
    CHECK(outputs.values() == expected_outputs);
}

}  // namespace

TEST_CASE("HIP: ConvProblem's implicit GEMM operands are windows and filters") {
    auto const f = fk::filter(3, 2).pad(1, 0, 2, 1).stride(2, 1).dilation(1, 2).groups(2);
    for (bool const fastest : {false, true}) {
        check_operands<2>(fk::nchw(2, 6, 5, 4), fk::kcrs(4, 3, 3, 2), fk::nhwc(2, 3, 3, 4), f, fastest);
        check_operands<2>(fk::nhwc(2, 5, 4, 6), fk::krsc(4, 3, 2, 3), fk::nchw(2, 4, 3, 3), f, fastest);
        check_operands<2>(fk::nchw(1, 3, 4, 4), fk::kcrs(2, 3, 1, 1), fk::nchw(1, 2, 4, 4), fk::filter(1, 1), fastest,
                          true);
        check_operands<2>(fk::nchw(2, 2, 4, 6), fk::kcrs(2, 2, 3, 3), fk::nchw(2, 2, 4, 6), fk::filter(3, 3).pad(1),
                          fastest, true);
    }
}

TEST_CASE("HIP: ConvProblem's operands of volumes include slices") {
    auto const f = fk::filter(2, 3, 2).pad(1, 0, 1, 0, 1, 0).stride(1, 2, 1).dilation(2, 1, 1);
    for (bool const fastest : {false, true}) {
        check_operands<3>(fk::ncdhw(2, 3, 3, 5, 4), fk::kctrs(2, 3, 2, 3, 2), fk::ncdhw(2, 2, 2, 2, 4), f, fastest);
        check_operands<3>(fk::ndhwc(1, 3, 5, 4, 3), fk::ktrsc(2, 2, 3, 2, 3), fk::ndhwc(1, 2, 2, 4, 2), f, fastest);
    }
}
