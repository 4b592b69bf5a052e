// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/resident_row_gradient.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/row_gradients.hpp"

using namespace test;

namespace {

/// Gradients of LayerNorm of a matrix, twice, against the definition; the runs are bitwise identical.
template <class T>
void check_matrix(fk::hip::Device& device, std::int64_t rows, std::int64_t columns, char const* layout = "nhwc") {
    INFO(rows << " x " << columns << ' ' << fk::name(fk::data_type<T>));
    oracle::Shape const shape{rows, columns, 1, 1, 1};
    Filled<T, fk::hip::Device, 4> x(device, layout, shape, row_values(shape.size(), 8, 3)),
        dy(device, layout, shape, integers(shape.size(), -3, 3, 4));
    auto const scale = integers(columns, -3, 3, 5);
    auto const channels = fk::channels(columns);
    Placed<fk::hip::Device, 1> given(device, fk::DataType::float32, channels, scale);
    std::vector<double> const zeros(scale.size(), 0), ones(static_cast<std::size_t>(shape.size()), 1);
    RowGradients const expected =
        expected_row_gradients({RowKind::layer}, oracle::Tensor(shape, x.values), dy.values, scale, zeros, ones, 0.5);
    using Layer = fk::Plan<fk::LayerNorm>;
    auto const layer = Layer::bind({.scale = given.template view<float const>(), .epsilon = 0.5f});
    std::vector<double> first;
    for (int run = 0; run < 2; ++run) {
        Placed<fk::hip::Device, 4> dx(device, fk::data_type<T>, layout_of<4>(layout, shape), 64);
        Placed<fk::hip::Device, 1> dscale(device, fk::DataType::float32, channels, 16),
            dshift(device, fk::DataType::float32, channels, 16);
        fk::Backward<Layer>::bind(layer, x.view(),
                                  {.scale = dscale.template view<float>(), .shift = dshift.template view<float>()})(
            device, dy.view(), dx.template view<T>());
        CHECK(difference(expected.dx, dx.fetch()) == "");
        CHECK(parameter_difference(expected.scale, dscale) == "");
        CHECK(parameter_difference(expected.shift, dshift) == "");
        std::vector<double> values;
        auto const append = [&](auto const& memory) {
            memory.for_each([&](std::int64_t at) { values.push_back(memory.get(at)); });
        };
        append(dx.fetch()), append(dscale.fetch()), append(dshift.fetch());
        if (run == 0) first = values;
        CHECK(values == first);
    }
}

}  // namespace

TEST_CASE("ResidentRowGradient: rows of one and of two packets a thread, with totals of channels of all rows") {
    fk::hip::Device device = gpu();
    check_matrix<fk::half>(device, 37, 264);
    check_matrix<float>(device, 19, 1032);
    check_matrix<float>(device, 9, 2056);
    check_matrix<fk::half>(device, 5, 40, "nhwc+8");
}

TEST_CASE("ResidentRowGradient: rows of four packets a thread, without totals") {
    fk::hip::Device device = gpu();
    check_row_gradients_case<fk::Softmax, fk::half>(
        device, {RowKind::softmax}, "nhwc", "nhwc", {19, 2088, 1, 1}, [](auto, auto) { return fk::Softmax::Args{}; },
        [](auto, auto) { return fk::detail::GradientsOf<fk::Softmax>::Type{}; });
}

TEST_CASE("ResidentRowGradient: parameter gradients over no images are 0") {
    fk::hip::Device device = gpu();
    check_empty_row_gradients<fk::LayerNorm, fk::half>(
        device, "nhwc", 40, [](auto scale) { return fk::LayerNorm::Args{.scale = scale, .epsilon = 0.5f}; });
}
