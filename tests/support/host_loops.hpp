// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "support/difference.hpp"
#include "support/filled.hpp"

namespace test {

/// Runs one of the host backend's loops with exactly the scratch that it requests, filled with NaN. `packed`: packs the
/// weights first, then runs twice without.
void run_loop(auto loop, int threads, bool packed = false) {
    fk::host::Device device(threads);
    fk::Workspace scratch(device, static_cast<std::size_t>(fk::host::scratch_size(loop.scratch_floats())) * 4);
    fk::WorkspaceView const room = scratch.view();
    for (std::size_t i = 0; i < room.bytes; ++i) static_cast<unsigned char*>(room.data)[i] = 0xff;
    using fk::host::Steps;
    auto const run = [&](Steps steps) {
        fk::host::Device::RunContext context(device, room, steps);
        loop.run(context);
    };
    if (!packed) return run(Steps::all);
    run(Steps::packing);
    run(Steps::after_packing);
    run(Steps::after_packing);
}

/// A convolution of integers, and layouts of x, of the weights and of y.
struct LoopCase {
    using Epilogue = fk::detail::Epilogue<fk::Bias>;

    oracle::Shape x;
    std::int64_t k;
    oracle::Window window;
    char const *x_layout, *w_layout, *y_layout;
};

/// Difference between y and convolution + bias, where make(problem, args, y) makes the loop that writes y.
template <class Make>
std::string difference_of_loop(LoopCase const& about, int threads, Make const& make) {
    using Device = fk::host::Device;
    Device device(1);
    oracle::Shape const filter{about.k, about.x.c / about.window.groups, about.window.r, about.window.s};
    Filled<float, Device, 4> x(device, about.x_layout, about.x, integers(about.x.size(), -3, 3, 1)),
        w(device, about.w_layout, filter, integers(filter.size(), -3, 3, 2));
    auto const bias = integers(about.k, -3, 3, 3);
    Placed<Device, 1> b(device, fk::DataType::float32, fk::channels(about.k), bias);
    oracle::Tensor const expected =
        oracle::bias(oracle::conv(oracle::Tensor(about.x, x.values), w.values, about.k, about.window), bias);
    Placed<Device, 4> y(device, fk::DataType::float32, layout_of<4>(about.y_layout, expected.shape), 64);
    auto const out = y.template view<float>();
    fk::CollapsedShape<4> const from(x.view().layout.shape), to(out.layout.shape);
    fk::host::ConvProblem<float, 2> const problem{{x.view(), w.view(), to, filter_of(about.window)}, {from, to}};
    LoopCase::Epilogue::Args const args{{{b.template view<float const>()}}};
    run_loop(make(problem, args, out), threads);
    std::string const first = difference(expected, y.fetch());
    if (!first.empty()) return first;
    Placed<Device, 4> again(device, fk::DataType::float32, layout_of<4>(about.y_layout, expected.shape), 64);
    auto const packed = again.template view<float>();
    run_loop(make(problem, args, packed), threads, true);
    return difference(expected, again.fetch());
}

/// Extents that fill tiles, and extents one below and one above, with 1x1 filters and with padded windows.
void check_tiles(char const* y_layout, std::vector<std::int64_t> const& channels,
                 std::vector<std::int64_t> const& pixels, auto const& make) {
    oracle::Window const padded{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1};
    for (std::int64_t const k : channels)
        for (std::int64_t const width : pixels) {
            INFO(k << " channels of " << width << " pixels");
            CHECK(difference_of_loop({{1, 5, 1, width}, k, {}, y_layout, "nchw", y_layout}, 1, make(1)) == "");
            CHECK(difference_of_loop({{2, 3, 4, width}, k, padded, y_layout, y_layout, y_layout}, 2, make(2)) == "");
        }
}

/// Strides, dilations, uneven padding and groups, with x and weights of either layout.
void check_windows(char const* y_layout, auto const& make) {
    struct Windows {
        oracle::Shape x;
        std::int64_t k;
        oracle::Window window;
        int threads;
    };
    Windows const all[] = {
        {{2, 6, 9, 11}, 20, {.r = 3, .s = 2, .top = 1, .bottom = 2, .right = 3, .u = 2, .v = 3, .d = 2}, 3},
        {{2, 6, 9, 11}, 20, {.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1, .groups = 2}, 2},
        {{1, 6, 5, 5}, 6, {.r = 5, .s = 5, .top = 4, .left = 4, .bottom = 4, .right = 4, .groups = 3}, 1}};
    for (char const* x_layout : {"nhwc", "nchw"})
        for (char const* w_layout : {"nhwc", "nchw"})
            for (Windows const& one : all) {
                INFO(x_layout << ' ' << w_layout << ' ' << one.window.groups << " groups");
                CHECK(difference_of_loop({one.x, one.k, one.window, x_layout, w_layout, y_layout}, one.threads,
                                         make(one.threads)) == "");
            }
}

}  // namespace test
