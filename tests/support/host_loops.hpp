// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "fusekit/fusekit.hpp"

namespace test {

namespace fk = fusekit;

/// Runs one of the host backend's loops with as much scratch as it asks for, every byte of it a NaN before.
void run_loop(auto loop, int threads) {
    fk::host::Device device(threads);
    fk::Workspace scratch(device, static_cast<std::size_t>(fk::host::scratch_size(loop.scratch_floats())) * 4);
    fk::WorkspaceView const room = scratch.view();
    for (std::size_t i = 0; i < room.bytes; ++i) static_cast<unsigned char*>(room.data)[i] = 0xff;
    fk::host::Device::Turn turn(device, room);
    loop.run(turn);
}

/// Whole numbers from -3 to 3.
inline std::vector<float> small_integers(std::int64_t count, unsigned seed) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; ++i) {
        seed = seed * 1664525u + 1013904223u;
        values.push_back(static_cast<float>((seed >> 16) % 7) - 3);
    }
    return values;
}

/// A convolution with a bias, of small integers, by its definition and by a loop of the host backend.
struct LoopCase {
    fk::Layout<4> x, w, y;
    fk::Filter<2> filter;
    std::vector<float> in = small_integers(x.span(), 1), weights = small_integers(w.span(), 2),
                       bias = small_integers(y.shape[1], 3);

    using Epilogue = fk::Epilogue<fk::Bias>;
    using Problem = fk::host::ConvProblem<float, 2>;

    Problem problem() const {
        return {{{in.data(), x}, {weights.data(), w}, y.shape, filter},
                {fk::CollapsedShape<4>(x.shape), fk::CollapsedShape<4>(y.shape)}};
    }
    Epilogue::Args args() const { return {{{fk::TensorView<float const, 1>(bias.data(), fk::channels(y.shape[1]))}}}; }

    /// The output at a place, by the definition.
    float at(std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t q) const {
        std::int64_t const group_c = w.shape[1], first_c = k / (y.shape[1] / filter.group_count) * group_c;
        float sum = bias[static_cast<std::size_t>(k)];
        for (std::int64_t c = 0; c < group_c; ++c)
            for (std::int64_t r = 0; r < w.shape[2]; ++r)
                for (std::int64_t s = 0; s < w.shape[3]; ++s) {
                    std::int64_t const row = p * filter.strides[0] + r * filter.dilations[0] - filter.pad_before[0];
                    std::int64_t const column = q * filter.strides[1] + s * filter.dilations[1] - filter.pad_before[1];
                    if (row < 0 || row >= x.shape[2] || column < 0 || column >= x.shape[3]) continue;
                    sum += in[static_cast<std::size_t>(x.offset({{n, first_c + c, row, column}}))] *
                           weights[static_cast<std::size_t>(w.offset({{k, c, r, s}}))];
                }
        return sum;
    }

    /// How many elements the loop that `make` makes of the output's view writes wrong, or writes that are none.
    template <class Make>
    int wrong(Make const& make, int threads) const {
        constexpr float poison = 1e30f;
        std::vector<float> out(static_cast<std::size_t>(y.span()), poison), expected = out;
        run_loop(make(fk::TensorView<float>(out.data(), y)), threads);
        for (std::int64_t n = 0; n < y.shape[0]; ++n)
            for (std::int64_t k = 0; k < y.shape[1]; ++k)
                for (std::int64_t p = 0; p < y.shape[2]; ++p)
                    for (std::int64_t q = 0; q < y.shape[3]; ++q)
                        expected[static_cast<std::size_t>(y.offset({{n, k, p, q}}))] = at(n, k, p, q);
        int count = 0;
        for (std::size_t i = 0; i < out.size(); ++i) count += out[i] != expected[i];
        return count;
    }
};

/// The case of a filter on images, with weights, in layouts that are channels-last or not.
inline LoopCase loop_case(fk::Index<4> const& x, std::int64_t k, fk::Filter<2> const& filter, bool x_last, bool y_last,
                          bool w_last = false) {
    auto const images = [](bool last, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
        return last ? fk::nhwc(n, h, w, c) : fk::nchw(n, c, h, w);
    };
    auto const extent = [&](int mode) { return filter.output(mode, x[2 + mode]); };
    return {images(x_last, x[0], x[1], x[2], x[3]),
            images(w_last, k, x[1] / filter.group_count, filter.size[0], filter.size[1]),
            images(y_last, x[0], k, extent(0), extent(1)), filter};
}

}  // namespace test
