// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/resident_rows.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/row_plans.hpp"

using namespace test;

namespace {

/// y = |Op(x) + bias| of a matrix against the definition.
template <class Op, class T, class Bind>
void check_matrix(fk::hip::Device& device, RowKind const& kind, std::int64_t rows, std::int64_t columns,
                  Bind const& bind) {
    INFO(fk::type_name<Op>() << ' ' << rows << " x " << columns << ' ' << fk::name(fk::data_type<T>));
    oracle::Shape const shape{rows, columns, 1, 1};
    bool const norm = kind.function == RowKind::layer || kind.function == RowKind::rms;
    Filled<T, fk::hip::Device, 4> x(device, "nhwc", shape, row_values(shape.size(), norm ? 8 : 1, 3));
    std::vector<double> const ones(static_cast<std::size_t>(columns), 1), zeros(ones.size());
    auto const scale = norm ? integers(columns, -3, 3, 5) : ones, bias = integers(columns, -3, 3, 6);
    Placed<fk::hip::Device, 1> given_scale(device, fk::DataType::float32, fk::channels(columns), scale),
        given_bias(device, fk::DataType::float32, fk::channels(columns), bias);
    Placed<fk::hip::Device, 4> y(device, fk::data_type<T>, layout_of<4>("nhwc", shape), 64);
    fk::Plan<Op, fk::Bias, fk::Activation<fk::Abs>>::bind(bind(given_scale.template view<float const>()),
                                                          {.bias = given_bias.template view<float const>()},
                                                          {})(device, x.view(), y.template view<T>());
    oracle::Tensor const normalized =
        expected_rows(kind, oracle::Tensor(shape, x.values), scale, zeros, norm ? 0.5 : 0);
    oracle::Tensor const expected = oracle::bias(normalized, bias).each([](Bounded v, std::size_t) {
        return Bounded{std::fabs(v.value), v.error + 0x1p-24 * std::fabs(v.value)};
    });
    CHECK(difference(expected, y.fetch()) == "");
}

}  // namespace

TEST_CASE("ResidentRows: rows of one and of two packets a thread, several a CTA, the last ones missing") {
    fk::hip::Device device = gpu();
    auto const layer_norm = [](auto scale) { return fk::LayerNorm::Args{scale, {}, 0.5f}; };
    check_matrix<fk::LayerNorm, fk::half>(device, {RowKind::layer}, 301, 40, layer_norm);
    check_matrix<fk::LayerNorm, fk::half>(device, {RowKind::layer}, 17, 1032, layer_norm);
    check_matrix<fk::LayerNorm, fk::half>(device, {RowKind::layer}, 11, 4104, layer_norm);
    check_matrix<fk::RmsNorm, float>(device, {RowKind::rms}, 19, 1028,
                                     [](auto scale) { return fk::RmsNorm::Args{scale, 0.5f}; });
    check_matrix<fk::Softmax, float>(device, {RowKind::softmax}, 9, 2056, [](auto) { return fk::Softmax::Args{}; });
}
