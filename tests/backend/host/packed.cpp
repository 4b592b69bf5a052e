// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/packed.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;
using fk::host::lanes, fk::host::tile_rows;

namespace {

using Device = fk::host::Device;

template <class T>
std::vector<T> values_of(fk::Tensor<T, Device> const& y) {
    std::vector<T> values(static_cast<std::size_t>(y.layout().size()));
    y.copy_to(values.data());
    return values;
}

fk::Layout<4> layout(bool last, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    return last ? fk::nhwc(n, h, w, c) : fk::nchw(n, c, h, w);
}

/// A packed run writes the elements of a run that packs: with the weights of its construction, and with others after
/// update(). Integer fills: sums are exact in every order.
template <class T>
void check(bool last, fk::Filter<2> const& filter, std::int64_t n, std::int64_t c, std::int64_t k, std::int64_t size,
           int threads) {
    INFO(filter.to_string().c_str() << ", " << c << " to " << k << " channels, " << size << " x " << size << ' '
                                    << (last ? "nhwc" : "nchw") << ", " << threads << " threads");
    Device device(threads);
    auto const fill = [&](fk::Layout<4> const& of, int seed) {
        fk::Tensor<T, Device> tensor(device, of);
        std::vector<T> values;
        for (std::int64_t i = 0; i < of.size(); ++i)
            values.push_back(T(static_cast<float>((i * seed + i / 7) % 7 - 3)));
        tensor.copy_from(values.data());
        return tensor;
    };
    auto const x = fill(layout(last, n, c, size, size), 1);
    auto w = fill(layout(last, k, c / filter.group_count, filter.size[0], filter.size[1]), 2);
    auto const others = values_of(fill(w.layout(), 3));
    fk::Tensor<float, Device, 1> b(device, fk::channels(k));
    std::vector<float> biases(static_cast<std::size_t>(k), 2.0f);
    b.copy_from(biases.data());
    auto const layer = fk::Plan<fk::Conv<fk::dynamic>, fk::Bias, fk::Activation<fk::Relu>>::bind(
        {.weights = w, .filter = filter}, {.bias = b}, {});
    auto expected = layer(device, x);
    fk::Tensor<T, Device> y(device, expected.layout());
    auto run = fk::host::pack(device, layer, x, y);
    auto const same = [&] {
        y.copy_from(std::vector<T>(values_of(y).size(), T(-1.0f)).data());  // Relu writes no -1
        run(x, y);
        return values_of(y) == values_of(expected);
    };
    CHECK(same());
    CHECK(same());

    w.copy_from(others.data());
    biases.assign(biases.size(), -1.0f);
    b.copy_from(biases.data());
    auto const before = values_of(expected);
    layer(device, x, expected);
    CHECK(values_of(expected) != before);
    run.update();
    CHECK(same());
    auto const moved = std::move(run);
    moved(x.data(), y.data());
    CHECK(values_of(y) == values_of(expected));
}

}  // namespace

TEST_CASE("packed: every loop of a convolution runs on weights packed before") {
    for (bool const last : {true, false})
        for (int const threads : {1, 3}) {
            check<float>(last, fk::filter(3, 3).pad(1, 1), 2, 5, 2 * lanes + 3, 9, threads);
            check<float>(last, fk::filter(1, 1), 1, 40, 3 * lanes + 1, 1, threads);
            check<float>(last, fk::filter(1, 1), 3, 40, 4 * lanes, 1, threads);
            check<float>(last, fk::filter(3, 3).pad(1, 1).groups(2 * lanes + 1), 2, 2 * lanes + 1, 2 * lanes + 1, 8,
                         threads);
            check<float>(last, fk::filter(3, 3).pad(1, 1).groups(2), 1, 6, 10, 8, threads);
            check<fk::half>(last, fk::filter(3, 3).pad(1, 1).stride(2), 1, 3, lanes + 2, 9, threads);
            check<fk::half>(last, fk::filter(1, 1), 2, 24, 10, 2 * tile_rows + 1, threads);
            check<fk::bfloat16>(last, fk::filter(3, 3).pad(1, 1), 1, 5, lanes + 2, 2 * tile_rows + 3, threads);
        }
}

TEST_CASE("packed: products, pools, plans without weights to pack, and double") {
    Device device(2);
    auto const x = fk::random<float>(device, fk::nhwc(2, 6, 6, 8), 1),
               w = fk::random<float>(device, fk::krsc(8, 3, 3, 8), 2);
    auto const same = [&](auto const& layer, auto const& input) {
        auto const expected = layer(device, input);
        auto y = layer(device, input);
        y.copy_from(std::vector(values_of(y).size(), values_of(y)[0]).data());
        fk::host::pack(device, layer, input, y)(input, y);
        return values_of(y) == values_of(expected);
    };
    CHECK(same(fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Pool<fk::Max, 2, 2>>::bind({.weights = w}, {}), x));
    CHECK(same(fk::Plan<fk::Activation<fk::Tanh>>::bind({}), x));
    CHECK(same(fk::Plan<fk::Activation<fk::Relu>, fk::Conv<fk::filter(3, 3)>>::bind({}, {.weights = w}), x));
    auto const x64 = fk::random<double>(device, fk::nchw(1, 3, 5, 5), 1),
               w64 = fk::random<double>(device, fk::kcrs(4, 3, 3, 3), 2);
    CHECK(same(fk::Plan<fk::Conv<fk::filter(3, 3)>>::bind({.weights = w64}), x64));
}
