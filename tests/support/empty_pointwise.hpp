// SPDX-License-Identifier: MIT
#pragma once

#include "support/empty_tensors.hpp"

/// Plans without a Conv or Gemm on tensors with one extent of 0.
namespace test {

/// Tensors of one shape, for all plans.
template <class Device>
struct EmptyImages {
    fk::Layout<4> layout;
    Part<Device, 4> x, dy, y, z, dz;
    Part<Device, 1> ones, scale_gradient, shift_gradient, amax;
    Part<Device, 3> map, scale_map, shift_map;

    EmptyImages(Device& device, fk::Layout<4> const& layout)
        : layout(layout),
          x(device, fk::DataType::float32, layout, 1),
          dy(device, fk::DataType::float32, layout, 1),
          y(device, fk::DataType::float32, layout),
          z(device, fk::DataType::float32, layout, -1),
          dz(device, fk::DataType::float32, layout),
          ones(device, fk::DataType::float32, fk::channels(layout.shape[1]), -1),
          scale_gradient(device, fk::DataType::float32, fk::channels(layout.shape[1])),
          shift_gradient(device, fk::DataType::float32, fk::channels(layout.shape[1])),
          amax(device, fk::DataType::float32, fk::channels(1), 0),
          map(device, fk::DataType::float32, fk::chw(layout.shape[1], layout.shape[2], layout.shape[3]), -1),
          scale_map(device, fk::DataType::float32, map.view().layout),
          shift_map(device, fk::DataType::float32, map.view().layout) {}

    auto of_channels() {
        return fk::BatchNormInference<fk::Spatial>::Args{ones.view(), ones.view(), ones.view(), ones.view()};
    }
    auto of_map() {
        return fk::BatchNormInference<fk::PerActivation>::Args{map.view(), map.view(), map.view(), map.view()};
    }
};

inline constexpr auto of_nothing = [](auto const&) { return 0.0; };

/// Calls check(images) for images with one extent of 0.
template <class Device, class F>
void each_empty_image(Device& device, F const& check) {
    each_zero({2, 4, 4, 6}, [&](auto const& e, bool channels_last) {
        EmptyImages<Device> images(device, laid_out<4>({{e[0], e[1], e[2], e[3]}}, channels_last));
        check(images);
    });
}

template <class Device>
void check_empty_pointwise(Device& device) {
    each_empty_image(device, [&](auto& of) {
        using Layer = fk::Plan<fk::BatchNormInference<fk::Spatial>, fk::Residual, fk::Amax, fk::Store>;
        check_run<float>(
            device,
            Layer::bind(of.of_channels(), {.z = of.z.view()}, {.amax = of.amax.view()}, {.values = of.dz.view()}), of.x,
            of.y, of_nothing);
        CHECK(of.amax.holds([](auto const&) { return channel_value(0); }));  // unchanged
        CHECK(of.dz.untouched());
    });
}

/// Windows without values are refused; a pool without windows is accepted.
template <class Device>
void check_empty_pools(Device& device) {
    each_empty_image(device, [&](auto& of) {
        fk::Index<4> const shape = of.layout.shape;
        auto const check = [&](auto const& layer, bool refused) {
            Part<Device, 4> y(device, fk::DataType::float32,
                              laid_out(layer.output_shape(shape), fk::channels_last(of.layout)));
            if (!refused) return check_run<float>(device, layer, of.x, y, of_nothing);
            CHECK(refusal([&] {
                      layer(device, of.x.template view<float const>(), y.view());
                  }).find("expected at least 1 value in each window, got values of ") != std::string::npos);
            CHECK(y.untouched());
        };
        bool const no_pixels = shape[2] == 0 || shape[3] == 0;
        check(fk::Plan<fk::GlobalAverage>::bind({}), no_pixels);
        check(fk::Plan<fk::Pool<fk::Max, 2, 2>>::bind({}), false);
        check(fk::Plan<fk::Pool<fk::Average, fk::filter(2, 2).pad(1)>>::bind({}), no_pixels);
    });
}

/// Softmax, an operator with a second tensor that is broadcast, and operators whose y has other extents than x.
template <class Device>
void check_empty_rows_and_resampling(Device& device) {
    each_empty_image(device, [&](auto& of) {
        check_run<float>(device, fk::Plan<fk::Softmax>::bind({}), of.x, of.y, of_nothing);
        auto const gate = of.ones.view();
        auto const [n, c, h, w] = of.layout.shape.values;
        fk::TensorView<float, 4> const of_channels{gate.data, {{{1, c, 1, 1}}, {{c, 1, 1, 1}}}};
        check_run<float>(device, fk::Plan<fk::Multiply>::bind({.z = fk::broadcast(of_channels, n, c, h, w)}), of.x,
                         of.y, of_nothing);
        auto const check = [&](auto const& layer, fk::Index<4> const& shape) {
            Part<Device, 4> y(device, fk::DataType::float32, laid_out(shape, fk::channels_last(of.layout)));
            check_run<float>(device, layer, of.x, y, of_nothing);
        };
        check(fk::Plan<fk::UpsampleNearest<2>>::bind({}), {{n, c, 2 * h, 2 * w}});
        check(fk::Plan<fk::UpsampleBilinear<2>>::bind({}), {{n, c, 2 * h, 2 * w}});
        check(fk::Plan<fk::PixelShuffle<2>>::bind({}), {{n, c / 4, 2 * h, 2 * w}});
        check(fk::Plan<fk::PoolGradient<fk::Average, 2, 2>>::bind({}), {{n, c, 2 * h, 2 * w}});
    });
}

/// Batch statistics are refused if a mean has no values, and accepted if there are no means.
template <class Device>
void check_empty_statistics(Device& device) {
    each_empty_image(device, [&](auto& of) {
        fk::Index<4> const shape = of.layout.shape;
        auto const check = [&](auto const& layer, bool refused, auto&... written) {
            if (!refused) return check_run<float>(device, layer, of.x, of.y, of_nothing);
            CHECK(
                refusal([&] { layer(device, of.x.template view<float const>(), of.y.view()); })
                    .find(": expected at least 1 value per mean, because batch statistics of no values are undefined, "
                          "got values of ") != std::string::npos);
            CHECK((written.untouched() && ...));
        };
        check(fk::Plan<fk::BatchNormTraining<fk::Spatial>, Relu>::bind(
                  {.scale = of.ones.view(),
                   .shift = of.ones.view(),
                   .saved_mean = of.scale_gradient.view(),
                   .saved_inverse_deviation = of.shift_gradient.view()},
                  {}),
              shape[1] > 0, of.scale_gradient, of.shift_gradient);
        check(fk::Plan<fk::BatchNormTraining<fk::PerActivation>>::bind(
                  {.scale = of.map.view(), .shift = of.map.view(), .saved_mean = of.scale_map.view()}),
              shape[0] == 0, of.scale_map);
        check(fk::Plan<fk::ChannelStatistics>::bind(
                  {.mean = of.scale_gradient.view(), .variance = of.shift_gradient.view()}),
              shape[1] > 0, of.scale_gradient, of.shift_gradient);
    });
}

/// Parameter gradients over zero images are 0.
template <class Device>
void check_empty_gradients(Device& device) {
    each_empty_image(device, [&](auto& of) {
        using Layer = fk::Plan<fk::BatchNormInference<fk::Spatial>, fk::Residual, Relu>;
        check_run<float>(
            device,
            fk::Backward<Layer>::bind(Layer::bind(of.of_channels(), {.z = of.z.view()}, {}), of.x.view(),
                                      {of.scale_gradient.view(), of.shift_gradient.view()}, {.z = of.dz.view()}, {}),
            of.dy, of.y, of_nothing);
        CHECK(of.scale_gradient.holds(of_nothing));
        CHECK(of.shift_gradient.holds(of_nothing));
        CHECK(of.dz.untouched());
    });
    each_empty_image(device, [&](auto& of) {
        using Layer = fk::Plan<fk::BatchNormTraining<fk::Spatial>, Relu>;
        Part<Device, 1> mean(device, fk::DataType::float32, fk::channels(of.layout.shape[1]), 0),
            deviation(device, fk::DataType::float32, fk::channels(of.layout.shape[1]), 0);
        auto const layer = Layer::bind({.scale = of.ones.view(),
                                        .shift = of.ones.view(),
                                        .saved_mean = mean.view(),
                                        .saved_inverse_deviation = deviation.view()},
                                       {});
        check_run<float>(
            device,
            fk::Backward<Layer>::bind(layer, of.x.view(), {of.scale_gradient.view(), of.shift_gradient.view()}, {}),
            of.dy, of.y, of_nothing);
        CHECK(of.scale_gradient.holds(of_nothing));
        CHECK(of.shift_gradient.holds(of_nothing));
    });
    each_empty_image(device, [&](auto& of) {
        using Layer = fk::Plan<fk::BatchNormInference<fk::PerActivation>, Relu>;
        check_run<float>(device,
                         fk::Backward<Layer>::bind(Layer::bind(of.of_map(), {}), of.x.view(),
                                                   {of.scale_map.view(), of.shift_map.view()}, {}),
                         of.dy, of.y, of_nothing);
        CHECK(of.scale_map.holds(of_nothing));
        CHECK(of.shift_map.holds(of_nothing));
    });
}

}  // namespace test
