// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/difference.hpp"
#include "support/filled.hpp"

namespace test {

/// Definition of an operator of two tensors, in double: its value and both derivatives. All are exact for x an integer
/// and z a power of two.
struct BinaryFunction {
    double (*value)(double x, double z), (*slope_x)(double x, double z), (*slope_z)(double x, double z);
};

inline constexpr BinaryFunction sum{[](double x, double z) { return x + z; }, [](double, double) { return 1.0; },
                                    [](double, double) { return 1.0; }};
inline constexpr BinaryFunction difference_of{[](double x, double z) { return x - z; },
                                              [](double, double) { return 1.0; }, [](double, double) { return -1.0; }};
inline constexpr BinaryFunction product{[](double x, double z) { return x * z; }, [](double, double z) { return z; },
                                        [](double x, double) { return x; }};
inline constexpr BinaryFunction quotient{[](double x, double z) { return x / z; },
                                         [](double, double z) { return 1 / z; },
                                         [](double x, double z) { return -x / (z * z); }};
inline constexpr BinaryFunction larger{[](double x, double z) { return x < z ? z : x; },
                                       [](double x, double z) { return x == z ? 0.5 : x > z; },
                                       [](double x, double z) { return x == z ? 0.5 : x < z; }};
inline constexpr BinaryFunction smaller{[](double x, double z) { return x < z ? x : z; },
                                        [](double x, double z) { return x == z ? 0.5 : x < z; },
                                        [](double x, double z) { return x == z ? 0.5 : x > z; }};

/// Values of z: powers of two of either sign.
inline std::vector<double> powers_of_two(std::int64_t size, std::uint64_t seed) {
    std::vector<double> values = integers(size, 0, 5, seed);
    double const powers[] = {0.5, 1, 2, 4, -1, -2};
    for (double& value : values) value = powers[static_cast<std::size_t>(value)];
    return values;
}

/// Index into a tensor of shape z, with extents of 1 where it is broadcast, of element i of y.
inline std::size_t broadcast_index(oracle::Shape const& y, oracle::Shape const& z, std::int64_t i) {
    std::int64_t const w = i % y.w, h = i / y.w % y.h, c = i / y.w / y.h % y.c, n = i / y.w / y.h / y.c;
    auto const within = [](std::int64_t index, std::int64_t extent) { return extent == 1 ? 0 : index; };
    return static_cast<std::size_t>(((within(n, z.n) * z.c + within(c, z.c)) * z.h + within(h, z.h)) * z.w +
                                    within(w, z.w));
}

/// Layouts of x, dy and of y, dx; of z; and of z's gradient.
struct BinaryLayouts {
    char const *x, *y, *z, *dz;
};

/// Checks y of Plan<Op>, and dx and dz of Backward<Plan<Op, Relu>>, where z has extents of 1 that are broadcast.
template <class Op, class T, class V, class Device>
void check_binary_case(Device& device, BinaryFunction const& function, oracle::Shape const& shape,
                       oracle::Shape const& z_shape, BinaryLayouts const& layouts) {
    INFO(fk::type_name<Op>() << ' ' << layouts.x << ' ' << layouts.y << ' ' << layouts.z << ' ' << shape.n << 'x'
                             << shape.c << 'x' << shape.h << 'x' << shape.w << ", z " << z_shape.n << 'x' << z_shape.c
                             << 'x' << z_shape.h << 'x' << z_shape.w << ' ' << fk::name(fk::data_type<T>) << ' '
                             << fk::name(fk::data_type<V>));
    Filled<T, Device, 4> x(device, layouts.x, shape, integers(shape.size(), -4, 4, 3));
    Filled<T, Device, 4> dy(device, layouts.x, shape, integers(shape.size(), -4, 4, 5));
    Filled<V, Device, 4> z(device, layouts.z, z_shape, powers_of_two(z_shape.size(), 4));
    auto const own = layout_of<4>(layouts.y, shape), of_z = layout_of<4>(layouts.dz, shape);
    Placed<Device, 4> y(device, fk::data_type<T>, own, 64), dx(device, fk::data_type<T>, own, 64),
        dz(device, fk::data_type<V>, of_z, 64);
    auto const wide = fk::broadcast(z.view(), shape.n, shape.c, shape.h, shape.w);
    fk::Plan<Op>::bind({.z = wide})(device, x.view(), y.template view<T>());

    using Layer = fk::Plan<Op, fk::Activation<fk::Relu>>;
    fk::Backward<Layer>::bind(Layer::bind({.z = wide}, {}), x.view(), {.z = dz.template view<V>()}, {})(
        device, dy.view(), dx.template view<T>());

    oracle::Tensor of_y(shape), of_dx(shape), of_dz(shape);
    for (std::int64_t i = 0; i < shape.size(); ++i) {
        auto const at = static_cast<std::size_t>(i);
        double const a = x.values[at], b = z.values[broadcast_index(shape, z_shape, i)];
        double const back = function.value(a, b) > 0 ? dy.values[at] : 0;
        of_y.at[at].value = function.value(a, b);
        of_dx.at[at].value = back * function.slope_x(a, b);
        of_dz.at[at].value = back * function.slope_z(a, b);
    }
    CHECK(difference(of_y, y.fetch()) == "");
    CHECK(difference(of_dx, dx.fetch()) == "");
    CHECK(difference(of_dz, dz.fetch()) == "");
}

/// All broadcasts of z, for one operator.
template <class Op, class Device>
void check_binary(Device& device, BinaryFunction const& function) {
    oracle::Shape const shapes[] = {{2, 3, 5, 7}, {3, 40, 2, 4}};
    for (oracle::Shape const& s : shapes)
        for (int ones = 0; ones < 16; ++ones) {
            auto const extent = [&](std::int64_t whole, int mode) { return ones >> mode & 1 ? 1 : whole; };
            oracle::Shape const z{extent(s.n, 0), extent(s.c, 1), extent(s.h, 2), extent(s.w, 3)};
            check_binary_case<Op, float, float>(device, function, s, z, {"nchw", "nchw", "nchw", "nchw"});
            check_binary_case<Op, fk::half, fk::half>(device, function, s, z, {"nhwc", "nhwc", "nhwc", "nhwc"});
            check_binary_case<Op, fk::half, float>(device, function, s, z, {"nchw+1", "nhwc*2", "nhwc+1", "nchw"});
        }
}

/// After a convolution, with a gate for each channel of each image.
template <class Op, class T, class Device>
void check_binary_after_conv(Device& device, BinaryFunction const& function, std::string const& layout) {
    INFO(fk::type_name<Op>() << ' ' << layout << ' ' << fk::name(fk::data_type<T>));
    oracle::Shape const in{2, 16, 6, 7}, filter{24, 16, 3, 3}, gates{2, 24, 1, 1};
    oracle::Window const window{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1};
    Filled<T, Device, 4> x(device, layout, in, integers(in.size(), -2, 2, 3));
    Filled<T, Device, 4> w(device, "nchw", filter, integers(filter.size(), -1, 1, 4));
    Filled<T, Device, 4> z(device, layout, gates, powers_of_two(gates.size(), 5));
    oracle::Tensor const sums = oracle::conv(oracle::Tensor(in, x.values), w.values, filter.n, window);
    oracle::Shape const out = sums.shape;
    Placed<Device, 4> y(device, fk::data_type<T>, layout_of<4>(layout, out), 64);
    fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, Op, fk::Activation<fk::Relu>>::bind(
        {.weights = w.view()}, {.z = fk::broadcast(z.view(), out.n, out.c, out.h, out.w)}, {})(device, x.view(),
                                                                                               y.template view<T>());
    auto const expected = sums.each([&](Bounded sum, std::size_t i) {
        double const got =
            function.value(sum.value, z.values[broadcast_index(out, gates, static_cast<std::int64_t>(i))]);
        return Bounded{got > 0 ? got : 0, 0};
    });
    CHECK(difference(expected, y.fetch()) == "");
}

/// Every operator alone and, for gates, after convolutions.
template <class Device>
void check_binary_operators(Device& device) {
    check_binary<fk::Add>(device, sum);
    check_binary<fk::Subtract>(device, difference_of);
    check_binary<fk::Multiply>(device, product);
    check_binary<fk::Divide>(device, quotient);
    check_binary<fk::Maximum>(device, larger);
    check_binary<fk::Minimum>(device, smaller);
    for (char const* layout : {"nchw", "nhwc"}) {
        check_binary_after_conv<fk::Multiply, float>(device, product, layout);
        check_binary_after_conv<fk::Multiply, fk::half>(device, product, layout);
    }
}

/// Select reads x where the mask is not 0; an infinity or NaN elsewhere leaves no trace, forward and backward.
template <class Device>
void check_select(Device& device) {
    oracle::Shape const shape{2, 3, 4, 5}, of_mask{2, 1, 4, 5};
    std::vector<double> values = integers(shape.size(), -4, 4, 3);
    auto const mask = integers(of_mask.size(), 0, 1, 4);
    auto const at = [&](std::int64_t i) { return mask[broadcast_index(shape, of_mask, i)] != 0; };
    for (std::int64_t i = 0; i < shape.size(); ++i)
        if (!at(i)) values[static_cast<std::size_t>(i)] = i % 2 ? INFINITY : NAN;
    Filled<float, Device, 4> x(device, "nchw", shape, values),
        dy(device, "nchw", shape, integers(shape.size(), 1, 9, 5));
    Filled<fk::int8, Device, 4> m(device, "nhwc", of_mask, mask);
    Placed<Device, 4> y(device, fk::DataType::float32, layout_of<4>("nchw", shape), 64),
        dx(device, fk::DataType::float32, layout_of<4>("nchw", shape), 64);
    using Layer = fk::Plan<fk::Select>;
    auto const layer = Layer::bind({.mask = fk::broadcast(m.view(), 2, 3, 4, 5), .otherwise = 7});
    layer(device, x.view(), y.template view<float>());
    fk::Backward<Layer>::bind(layer, x.view())(device, dy.view(), dx.template view<float>());
    oracle::Tensor of_y(shape), of_dx(shape);
    for (std::int64_t i = 0; i < shape.size(); ++i) {
        auto const index = static_cast<std::size_t>(i);
        of_y.at[index].value = at(i) ? values[index] : 7;
        of_dx.at[index].value = at(i) ? dy.values[index] : 0;
    }
    CHECK(difference(of_y, y.fetch()) == "");
    CHECK(difference(of_dx, dx.fetch()) == "");
}

}  // namespace test
