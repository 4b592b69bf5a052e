// SPDX-License-Identifier: MIT
// Compiled for each of AMD's targets, as atom/native.cpp is.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <vector>

#include "backend/hip/mainloop/native_weight_gradients.hpp"

using namespace test;

TEST_CASE("HIP: weight gradients of half are exact on the matrix units of each target") {
    fk::hip::Device device = native();
    check_all_gradients<fk::half>(device);
}

TEST_CASE("HIP: long sums of weight gradients are exact on each target, with and without split-K") {
    using Layer = fk::Plan<fk::ConvWeightGradient<fk::filter(1, 1)>>;
    fk::hip::Device device = native();
    // 0, 4 and 52 more channels: for packets, and for three tiles of channels.
#ifdef FEWER_KERNELS
    auto const [order, more] = GENERATE(table<char const*, std::int64_t>({{"nhwc", 0}, {"nchw", 4}, {"nhwc", 52}}));
#else
    char const* const order = GENERATE("nhwc", "nchw");
    std::int64_t const more = GENERATE(0, 4, 52);
#endif
    oracle::Shape const in{3, 12 + more, 33, 34},
        out{3, 66 + more * 3 / 2, 33, 34};  // more than three times the pixels between promotions
    Filled<fk::half, fk::hip::Device, 4> x(device, order, in, integers(in.size(), -2, 3, 1)),
        dy(device, order, out, integers(out.size(), -3, 2, 2));
    Placed<fk::hip::Device, 1> db(device, fk::DataType::float32, fk::channels(out.c), 64);
    auto const layer = Layer::bind({.dy = dy.view(), .bias_gradient = db.template view<float>()});
    auto const expected = oracle::weight_gradient({in, x.values}, {out, dy.values}, window_of(fk::filter(1, 1)));
    std::vector<double> sums(static_cast<std::size_t>(out.c));
    for (std::size_t i = 0; i < dy.values.size(); ++i)
        sums[i / static_cast<std::size_t>(out.h * out.w) % sums.size()] += dy.values[i];
    for (std::size_t const parts : {0, 2, 5}) {
        if (parts == 2 && more != 52) continue;
        fk::Workspace<fk::hip::Memory> own(device, fk::hip::GroupWorkspace::state_bytes + parts * 128 * 128 * 4);
        fk::hip::Stream const stream(device, nullptr, parts ? own.view() : fk::WorkspaceView{});
        Placed<fk::hip::Device, 4> dw(device, fk::DataType::float32, layout_of("nhwc", expected.shape), 64);
        layer(stream, x.view(), dw.view<float>());
        CHECK(difference(expected, dw.fetch()) == "");
        auto const got = db.fetch();
        for (std::int64_t k = 0; k < out.c; ++k) CHECK(got.get(k) == sums[static_cast<std::size_t>(k)]);
    }
}
