// SPDX-License-Identifier: MIT
#pragma once

#include "support/row_plans.hpp"

/// Gradients of norms and softmax of rows against their definitions in double.
namespace test {

/// Gradients of a plan of a RowOp whose result, (scale * n + shift + bias) * m + z, is multiplied by dy and summed.
struct RowGradients {
    oracle::Tensor dx, dm;
    std::vector<Bounded> scale, shift;  ///< shift: also of a Bias after the RowOp
};

/// By definition: dx_i = sum over j of g_j * dn_j / dx_i. Errors: sums of up to 2^12 values in pairs or in slots are at
/// most 100 half ulps of the sum of magnitudes; those of n are those of expected_rows().
inline RowGradients expected_row_gradients(RowKind const& kind, oracle::Tensor const& x, std::vector<double> const& dy,
                                           std::vector<double> const& scale, std::vector<double> const& bias,
                                           std::vector<double> const& m, double epsilon) {
    oracle::Shape const s = x.shape;
    std::int64_t const plane = s.d * s.h * s.w, groups = kind.groups ? kind.groups : 1;
    double const u = 0x1p-24;
    std::vector<double> const ones(scale.size(), 1), none(scale.size(), 0);
    oracle::Tensor const n = expected_rows(kind, x, ones, none, epsilon);
    RowGradients result{oracle::Tensor(s), oracle::Tensor(s), {}, {}};
    result.scale.resize(scale.size()), result.shift.resize(scale.size());
    std::vector<std::vector<std::size_t>> rows(static_cast<std::size_t>(s.n * (kind.groups ? groups : plane)));
    for (std::size_t i = 0; i < x.at.size(); ++i) {
        auto const k = static_cast<std::size_t>(x.channel(i));
        auto const image = static_cast<std::int64_t>(i) / (s.c * plane), pixel = static_cast<std::int64_t>(i) % plane;
        std::int64_t const row =
            kind.groups ? image * groups + static_cast<std::int64_t>(k) / (s.c / groups) : image * plane + pixel;
        rows[static_cast<std::size_t>(row)].push_back(i);
        double const after = dy[i] * m[i], value = n.at[i].value * scale[k] + bias[k];
        result.scale[k].value += after * n.at[i].value;
        result.scale[k].error += std::fabs(after) * (n.at[i].error + 100 * u * std::fabs(n.at[i].value));
        result.shift[k].value += after;
        result.shift[k].error += 100 * u * std::fabs(after);
        result.dm.at[i] = {dy[i] * value, std::fabs(dy[i]) * (std::fabs(scale[k]) * n.at[i].error +
                                                              8 * u * (std::fabs(value) + std::fabs(bias[k])))};
    }
    for (std::vector<std::size_t> const& row : rows) {
        double const count = static_cast<double>(row.size());
        double sum = 0, squares = 0, magnitude = 0, largest = -INFINITY;
        for (std::size_t i : row) {
            sum += x.at[i].value, squares += x.at[i].value * x.at[i].value;
            magnitude = std::max(magnitude, std::fabs(x.at[i].value)), largest = std::max(largest, x.at[i].value);
        }
        double const mean = sum / count, variance = squares / count - (kind.function == RowKind::rms ? 0 : mean * mean),
                     inverse = 1 / std::sqrt(variance + epsilon);
        auto const g = [&](std::size_t i) { return dy[i] * m[i] * scale[static_cast<std::size_t>(x.channel(i))]; };
        double of_g = 0, of_g_n = 0, magnitudes_g = 0, magnitudes_g_n = 0, errors = 0;
        for (std::size_t i : row) {
            of_g += g(i), of_g_n += g(i) * n.at[i].value;
            magnitudes_g += std::fabs(g(i)), magnitudes_g_n += std::fabs(g(i) * n.at[i].value);
            errors += std::fabs(g(i)) * n.at[i].error;
        }
        for (std::size_t i : row) {
            double const own = g(i), v = n.at[i].value, e = n.at[i].error;
            Bounded& to = result.dx.at[i];
            if (kind.function == RowKind::softmax) {
                to.value = v * (own - of_g_n);
                to.error = e * (std::fabs(own) + magnitudes_g_n) +
                           v * (errors + 100 * u * (std::fabs(own) + magnitudes_g_n)) + 0x1p-120;
            } else if (kind.function == RowKind::log_softmax) {
                double const p = std::exp(v);
                to.value = own - p * of_g;
                to.error = 8 * u * std::fabs(own) + p * ((e + 8 * u) * std::fabs(of_g) + 100 * u * magnitudes_g);
            } else {
                double const of_mean = kind.function == RowKind::rms ? 0 : of_g / count;
                double const terms = std::fabs(own) + magnitudes_g / count + std::fabs(v) * magnitudes_g_n / count;
                to.value = inverse * (own - of_mean - v * of_g_n / count);
                to.error = inverse * (100 * u * terms + std::fabs(v) * errors / count + e * magnitudes_g_n / count +
                                      u * (40 + 40 * magnitude * inverse) * terms);
            }
        }
    }
    return result;
}

/// Describes the first element of a parameter gradient that exceeds its bound; empty if none does.
template <class Device>
std::string parameter_difference(std::vector<Bounded> const& expected, Placed<Device, 1>& given) {
    auto const& memory = given.fetch();
    std::size_t k = 0;
    std::string text;
    memory.for_each([&](std::int64_t at) {
        double const value = memory.get(at);
        Bounded const& to = expected[k];
        if (text.empty() && !(std::fabs(value - to.value) <= to.error + 0x1p-23 * std::fabs(to.value)))
            text = "channel " + std::to_string(k) + ": expected " + std::to_string(to.value) + ", got " +
                   std::to_string(value);
        ++k;
    });
    return text;
}

/// Gradients of a plan of Op alone, and of one with operators after it. of_gradients(scale, shift): Op's gradients.
template <class Op, class T, int Rank = 4, class Device, class Bind, class Gradients>
void check_row_gradients_case(Device& device, RowKind const& kind, std::string const& of_x, std::string const& of_dx,
                              oracle::Shape const& shape, Bind const& bind, Gradients const& of_gradients) {
    INFO(fk::type_name<Op>() << ' ' << of_x << ' ' << of_dx << ' ' << shape.n << 'x' << shape.c << 'x' << shape.h << 'x'
                             << shape.w << " groups " << kind.groups << ' ' << fk::name(fk::data_type<T>));
    bool const norm = kind.function == RowKind::layer || kind.function == RowKind::rms;
    bool const shifts = kind.function == RowKind::layer;
    Filled<T, Device, Rank> x(device, of_x, shape, row_values(shape.size(), norm ? 8 : 1, 3)),
        dy(device, of_dx, shape, integers(shape.size(), -3, 3, 4)),
        m(device, of_dx, shape, integers(shape.size(), -2, 2, 8)),
        z(device, of_x, shape, integers(shape.size(), 0, 9, 9));
    std::vector<double> const ones(static_cast<std::size_t>(shape.c), 1), zeros(ones.size(), 0),
        all_ones(static_cast<std::size_t>(shape.size()), 1);
    auto const scale = norm ? integers(shape.c, -3, 3, 5) : ones, shift = shifts ? integers(shape.c, -3, 3, 6) : zeros,
               bias = integers(shape.c, -3, 3, 7);
    auto const channels = fk::channels(shape.c);
    Placed<Device, 1> given_scale(device, fk::DataType::float32, channels, scale),
        given_shift(device, fk::DataType::float32, channels, shift),
        given_bias(device, fk::DataType::float32, channels, bias);
    auto const args = bind(given_scale.template view<float const>(), given_shift.template view<float const>());
    auto const output = [&] {
        return Placed<Device, Rank>(device, fk::data_type<T>, layout_of<Rank>(of_dx, shape), 64);
    };
    auto const parameter = [&] { return Placed<Device, 1>(device, fk::DataType::float32, channels, 16); };
    oracle::Tensor const input(shape, x.values);
    {
        auto dx = output();
        auto dscale = parameter(), dshift = parameter();
        using Layer = fk::Plan<Op>;
        fk::Backward<Layer>::bind(Layer::bind(args), x.view(),
                                  of_gradients(dscale.template view<float>(), dshift.template view<float>()))(
            device, dy.view(), dx.template view<T>());
        RowGradients const expected = expected_row_gradients(kind, input, dy.values, scale, zeros, all_ones, 0.5);
        CHECK(difference(expected.dx, dx.fetch()) == "");
        if (norm) CHECK(parameter_difference(expected.scale, dscale) == "");
        if (shifts) CHECK(parameter_difference(expected.shift, dshift) == "");
    }
    auto dx = output(), dm = output(), dz = output();
    auto dscale = parameter(), dshift = parameter(), dbias = parameter();
    using Layer = fk::Plan<Op, fk::Bias, fk::Multiply, fk::Residual>;
    auto const layer = Layer::bind(args, {.bias = given_bias.template view<float const>()}, {.z = m.view()},
                                   {.z = z.view(), .alpha2 = 2});
    fk::Backward<Layer>::bind(layer, x.view(),
                              of_gradients(dscale.template view<float>(), dshift.template view<float>()),
                              {.bias = dbias.template view<float>()}, {.z = dm.template view<T>()},
                              {.z = dz.template view<T>()})(device, dy.view(), dx.template view<T>());
    std::vector<double> both = bias;
    for (std::size_t k = 0; k < both.size(); ++k) both[k] += shift[k];
    RowGradients const expected = expected_row_gradients(kind, input, dy.values, scale, both, m.values, 0.5);
    CHECK(difference(expected.dx, dx.fetch()) == "");
    CHECK(difference(expected.dm, dm.fetch()) == "");
    CHECK(difference(
              oracle::Tensor(shape, dy.values).each([](Bounded v, std::size_t) { return Bounded{2 * v.value, 0}; }),
              dz.fetch()) == "");
    CHECK(parameter_difference(expected.shift, dbias) == "");
    if (norm) CHECK(parameter_difference(expected.scale, dscale) == "");
    if (shifts) CHECK(parameter_difference(expected.shift, dshift) == "");
}

/// Parameter gradients of Op, of `layout`, over no images: 0. make(scale): Op's Args.
template <class Op, class T, class Device, class Make>
void check_empty_row_gradients(Device& device, char const* layout, std::int64_t count, Make const& make) {
    oracle::Shape const shape{0, count, 3, 5};
    std::vector<double> const none;
    Filled<T, Device, 4> x(device, layout, shape, none), dy(device, layout, shape, none);
    auto const channels = fk::channels(count);
    Placed<Device, 1> scale(device, fk::DataType::float32, channels, integers(count, -3, 3, 5)),
        dscale(device, fk::DataType::float32, channels, 16), dshift(device, fk::DataType::float32, channels, 16);
    Placed<Device, 4> dx(device, fk::data_type<T>, layout_of<4>(layout, shape), 64);
    using Layer = fk::Plan<Op>;
    fk::Backward<Layer>::bind(Layer::bind(make(scale.template view<float const>())), x.view(),
                              {.scale = dscale.template view<float>(), .shift = dshift.template view<float>()})(
        device, dy.view(), dx.template view<T>());
    std::vector<Bounded> const zeros(static_cast<std::size_t>(count));
    CHECK(parameter_difference(zeros, dscale) == "");
    CHECK(parameter_difference(zeros, dshift) == "");
}

/// Gradients of operators of rows on odd shapes and mixed layouts; `all`: those too that differ in their arithmetic
/// alone.
template <class T, bool all, class Device>
void check_row_gradients_of(Device& device, std::vector<oracle::Shape> const& shapes) {
    char const* layouts[][2] = {{"nchw", "nchw"}, {"nhwc", "nhwc"}, {"nchw+1", "nhwc*2"}, {"nhwc+1", "nhwc"}};
    for (oracle::Shape const& shape : shapes)
        for (auto const& [of_x, of_dx] : layouts) {
            check_row_gradients_case<fk::LayerNorm, T>(
                device, {RowKind::layer}, of_x, of_dx, shape,
                [](auto scale, auto shift) { return fk::LayerNorm::Args{scale, shift, 0.5f}; },
                [](auto scale, auto shift) { return fk::LayerNorm::Affine::Gradients{scale, shift}; });
            if constexpr (all) {
                check_row_gradients_case<fk::RmsNorm, T>(
                    device, {RowKind::rms}, of_x, of_dx, shape,
                    [](auto scale, auto) { return fk::RmsNorm::Args{scale, 0.5f}; },
                    [](auto scale, auto) { return fk::RmsNorm::Affine::Gradients{scale}; });
                check_row_gradients_case<fk::InstanceNorm, T>(
                    device, {RowKind::layer, shape.c}, of_x, of_dx, shape,
                    [](auto scale, auto shift) { return fk::InstanceNorm::Args{scale, shift, 0.5f}; },
                    [](auto scale, auto shift) { return fk::InstanceNorm::Affine::Gradients{scale, shift}; });
                check_row_gradients_case<fk::LogSoftmax, T>(
                    device, {RowKind::log_softmax}, of_x, of_dx, shape,
                    [](auto, auto) { return fk::LogSoftmax::Args{}; },
                    [](auto, auto) { return fk::detail::GradientsOf<fk::LogSoftmax>::Type{}; });
            }
            std::int64_t const groups = shape.c % 4 == 0 ? 4 : 1;
            check_row_gradients_case<fk::GroupNorm, T>(
                device, {RowKind::layer, groups}, of_x, of_dx, shape,
                [&](auto scale, auto shift) { return fk::GroupNorm::Args{groups, scale, shift, 0.5f}; },
                [](auto scale, auto shift) { return fk::GroupNorm::Affine::Gradients{scale, shift}; });
            check_row_gradients_case<fk::Softmax, T>(
                device, {RowKind::softmax}, of_x, of_dx, shape, [](auto, auto) { return fk::Softmax::Args{}; },
                [](auto, auto) { return fk::detail::GradientsOf<fk::Softmax>::Type{}; });
        }
}

}  // namespace test
