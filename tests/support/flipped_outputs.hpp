// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/filled.hpp"

namespace test {

/// Elements in canonical order.
template <int Rank>
std::vector<double> values_of(Memory<Rank> const& memory) {
    std::vector<double> values;
    memory.for_each([&](std::int64_t at) { values.push_back(memory.get(at)); });
    return values;
}

/// A layer writes the same values, and nothing between them, to outputs with negative strides.
template <class T, int Rank, class Device>
void check_flipped_output(Device& device, std::string const& order, oracle::Shape y, auto const& layer) {
    Placed<Device, Rank> forwards(device, fk::data_type<T>, layout_of<Rank>(order, y), 64);
    layer(forwards.template view<T>());
    for (char const* modes : {"-n", "-c", "-h", "-w", "-nchw", "+2-cw", "*2-nh"}) {
        INFO(order << modes << ' ' << y.n << 'x' << y.c << 'x' << y.h << 'x' << y.w);
        Placed<Device, Rank> flipped(device, fk::data_type<T>, layout_of<Rank>(order + modes, y), 64);
        layer(flipped.template view<T>());
        CHECK((values_of(forwards.fetch()) == values_of(flipped.fetch())));
        CHECK(flipped.fetch().untouched());
    }
}

/// Plans with every kind of head. Fills are integers: sums are bitwise identical in any order.
template <class T, class Device>
void check_flipped_outputs(Device& device) {
    using Relu = fk::Activation<fk::Relu>;
    INFO(fk::name(fk::data_type<T>));
    for (std::string const order : {"nchw", "nhwc"})
        for (oracle::Shape const x : {oracle::Shape{2, 8, 4, 8}, oracle::Shape{3, 5, 2, 6}}) {
            Filled<T, Device, 4> in(device, order, x, integers(x.size(), -9, 9, 1)),
                w(device, order == "nchw" ? "kcrs" : "krsc", {16, x.c, 3, 3}, integers(16 * x.c * 9, -2, 2, 2)),
                dy(device, order, {x.n, 16, x.h, x.w}, integers(x.n * 16 * x.h * x.w, -2, 2, 3));
            Placed<Device, 1> one(device, fk::DataType::float32, fk::channels(x.c),
                                  std::vector<double>(static_cast<std::size_t>(x.c), 1));
            auto const ones = one.template view<float const>();
            auto const check = [&](oracle::Shape y, auto const& layer) {
                check_flipped_output<T, 4>(device, order, y, [&](auto const& to) { layer(device, in.view(), to); });
            };
            check(x, fk::Plan<Relu>::bind({}));
            check({x.n, 16, x.h, x.w},
                  fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, Relu>::bind({.weights = w.view()}, {}));
            check({x.n, x.c, x.h / 2, x.w / 2}, fk::Plan<fk::Pool<fk::Max, fk::filter(2, 2).stride(2)>>::bind({}));
            check({x.n, x.c, 1, 1}, fk::Plan<fk::GlobalAverage>::bind({}));
            if (x.size() / x.c == 64)  // a mean without rounding
                check(x, fk::Plan<fk::BatchNormTraining<fk::Spatial>>::bind({.scale = ones, .shift = ones}));
            check({16, x.c, 3, 3}, fk::Plan<fk::ConvWeightGradient<fk::filter(3, 3).pad(1)>>::bind({.dy = dy.view()}));
            check_flipped_output<T, 4>(device, order, x, [&](auto const& to) {  // an operator's own output
                fk::Plan<fk::Scale, fk::Store>::bind({.factor = 2}, {.values = to})(device, in.view(), fk::no_output);
            });
        }
}

}  // namespace test
