// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/placed.hpp"
#include "support/refusal.hpp"

/// Plans of every kind on tensors with one extent of 0. Expected values are empty sums, so no oracle is needed.
namespace test {

using Relu = fk::Activation<fk::Relu>;

/// Value per channel: the bias that is added to an empty sum.
constexpr double channel_value(std::int64_t k) { return static_cast<double>(k % 5 + 1); }

/// A tensor of a device: channel_value of mode `mode` in every element; poisoned, with margins, if written. An empty
/// tensor's view has a null pointer.
template <class Device, int Rank>
class Part {
public:
    Part(Device& device, fk::DataType type, fk::Layout<Rank> const& layout, int mode)
        : layout(layout), memory(device, type, layout, values(layout, mode)) {}
    Part(Device& device, fk::DataType type, fk::Layout<Rank> const& layout)
        : layout(layout), memory(device, type, layout, 64) {}

    template <class T = float>
    fk::TensorView<T, Rank> view() {
        return {layout.size() == 0 ? nullptr : memory.template view<T>().data, layout};
    }
    void reset() { memory.reset(); }
    /// True if nothing has been written, including margins.
    bool untouched() { return memory.fetch().untouched(true); }
    /// True if every element is value(index), and nothing outside the elements has been written.
    template <class Value>
    bool holds(Value const& value) {
        Memory<Rank> const& all = memory.fetch();
        bool same = all.untouched();
        fk::Index<Rank> at{};
        for (std::int64_t i = 0; i < layout.size(); ++i) {
            same = same && all.get(layout.offset(at)) == value(at);
            for (int mode = Rank - 1; mode >= 0 && ++at[mode] == layout.shape[mode]; --mode) at[mode] = 0;
        }
        return same;
    }

private:
    fk::Layout<Rank> layout;
    Placed<Device, Rank> memory;

    static std::vector<double> values(fk::Layout<Rank> const& layout, int mode) {
        std::vector<double> all;
        fk::Index<Rank> at{};
        for (std::int64_t i = 0; i < layout.size(); ++i) {
            all.push_back(mode < 0 ? 1 : channel_value(at[mode]));
            for (int m = Rank - 1; m >= 0 && ++at[m] == layout.shape[m]; --m) at[m] = 0;
        }
        return all;
    }
};

template <int Rank>
fk::Layout<Rank> laid_out(fk::Index<Rank> const& shape, bool channels_last) {
    if constexpr (Rank == 2) return fk::row_major(shape[0], shape[1]);
    else if constexpr (Rank == 3)
        return channels_last ? fk::nwc(shape[0], shape[2], shape[1]) : fk::packed<3>(shape, {{0, 1, 2}});
    else if constexpr (Rank == 4)
        return channels_last ? fk::packed<4>(shape, {{0, 2, 3, 1}}) : fk::packed<4>(shape, {{0, 1, 2, 3}});
    else return channels_last ? fk::packed<5>(shape, {{0, 2, 3, 4, 1}}) : fk::packed<5>(shape, {{0, 1, 2, 3, 4}});
}

/// Runs a layer in every way: into y, into a new tensor, prepared for layouts and run twice; and checks the queries
/// that run nothing. Then element `index` of y must be value(index).
template <class T, int Rank, class Device, class Layer, class Value>
void check_run(Device& device, Layer const& layer, Part<Device, Rank>& x, Part<Device, Rank>& y, Value const& value) {
    auto const from = x.template view<T const>();
    auto const to = y.template view<T>();
    layer(device, from, to);
    CHECK(y.holds(value));
    auto const run = layer.template prepare<T>(device, from.layout, to.layout);
    y.reset();
    run(device, from, to);
    CHECK(y.holds(value));
    y.reset();
    run(device, from.data, to.data);
    CHECK(y.holds(value));
    auto const made = layer(device, from);
    if (!(made.layout().shape == to.layout.shape)) CHECK(made.size() == 0);  // not unique if transposed
    static_cast<void>(fk::describe(layer, from).flops());
}

/// Calls check(extents, channels_last) with each extent set to 0, one at a time; failures name it.
template <std::size_t Count, class F>
void each_zero(std::int64_t const (&extents)[Count], F const& check) {
    for (std::size_t zero = 0; zero < Count; ++zero)
        for (bool const channels_last : {false, true}) {
            std::int64_t e[Count];
            for (std::size_t i = 0; i < Count; ++i) e[i] = i == zero ? 0 : extents[i];
            INFO("extent " << zero << " is 0, channels " << (channels_last ? "last" : "first"));
            check(e, channels_last);
        }
}

/// A convolution of any rank, Bias and Relu, with each extent of images and filters set to 0. A non-empty y equals the
/// bias.
template <class T, auto Geometry, class Device>
void check_empty_conv(Device& device) {
    constexpr int rank = Geometry.rank + 2;
    using Layer = fk::Plan<fk::Conv<Geometry>, fk::Bias, Relu>;
    INFO(fk::type_name<Layer>() << " of " << fk::name(fk::data_type<T>));
    std::int64_t extents[rank + 1] = {2, Geometry.group_count * 2, 4, 5};
    for (int mode = 2; mode < rank; ++mode) extents[mode] = 2 + mode;
    extents[rank] = Geometry.group_count * 3;  // K
    each_zero(extents, [&](auto const& e, bool channels_last) {
        fk::Index<rank> of_x{}, of_w{};
        for (int mode = 0; mode < rank; ++mode) of_x[mode] = e[mode];
        of_w[0] = e[rank], of_w[1] = of_x[1] / Geometry.group_count;
        for (int i = 0; i < Geometry.rank; ++i) of_w[2 + i] = Geometry.size[i];
        Part<Device, rank> x(device, fk::data_type<T>, laid_out(of_x, channels_last), -1),
            w(device, fk::data_type<T>, laid_out(of_w, channels_last), -1);
        Part<Device, 1> bias(device, fk::DataType::float32, fk::channels(e[rank]), 0);
        auto const layer = Layer::bind({w.template view<T const>()}, {bias.view()}, {});
        Part<Device, rank> y(device, fk::data_type<T>, laid_out(layer.output_shape(of_x), channels_last));
        check_run<T>(device, layer, x, y, [](auto const& at) { return channel_value(at[1]); });
    });
}

/// Statistics, a Store and a prologue around a convolution.
template <class Device>
void check_around_empty_conv(Device& device) {
    each_zero({2, 3, 4, 6, 37}, [&](auto const& e, bool channels_last) {
        Part<Device, 4> x(device, fk::DataType::float32, laid_out<4>({{e[0], e[1], e[2], e[3]}}, channels_last), -1),
            w(device, fk::DataType::float32, fk::kcrs(e[4], e[1], 1, 1), -1);
        Part<Device, 1> bias(device, fk::DataType::float32, fk::channels(e[4]), 0);
        fk::Layout<4> const of_y = laid_out<4>({{e[0], e[4], e[2], e[3]}}, channels_last);
        Part<Device, 4> y(device, fk::DataType::float32, of_y), stored(device, fk::DataType::float32, of_y),
            pooled(device, fk::DataType::float32, laid_out<4>({{e[0], e[4], e[2] / 2, e[3] / 2}}, channels_last));
        Part<Device, 1> mean(device, fk::DataType::float32, fk::channels(e[4])),
            variance(device, fk::DataType::float32, fk::channels(e[4])),
            scratch(device, fk::DataType::float32, fk::channels(fk::ChannelStatistics::scratch(of_y.shape)));
        auto const of_bias = [](auto const& at) { return channel_value(at[1]); };
        using Conv = fk::Conv<fk::filter(1, 1)>;
        check_run<float>(
            device,
            fk::Plan<Relu, Conv, fk::Bias, fk::Store>::bind({}, {w.view()}, {bias.view()}, {.values = stored.view()}),
            x, y, of_bias);
        CHECK(stored.holds(of_bias));
        check_run<float>(device, fk::Plan<Conv, fk::Bias, fk::Pool<fk::Max, 2, 2>>::bind({w.view()}, {bias.view()}, {}),
                         x, pooled, of_bias);
        auto const layer = fk::Plan<Conv, fk::Bias, fk::ChannelStatistics>::bind(
            {w.view()}, {bias.view()}, {.mean = mean.view(), .variance = variance.view(), .scratch = scratch.view()});
        if (e[4] != 0 && of_y.size() == 0) {
            CHECK(refusal([&] { layer(device, x.template view<float const>(), y.view()); })
                      .find("ChannelStatistics: expected at least 1 value per mean, because batch statistics of no "
                            "values are undefined, got values of ") != std::string::npos);
            CHECK(mean.untouched());
        } else {
            check_run<float>(device, layer, x, y, of_bias);
            CHECK(mean.holds([](auto const& at) { return channel_value(at[0]); }));
            CHECK(variance.holds([](auto const&) { return 0.0; }));
        }
    });
}

/// A transposed convolution; also a non-empty y from an empty x.
template <class Device>
void check_empty_transposed(Device& device) {
    using Layer = fk::Plan<fk::TransposedConv<fk::filter(3, 3).stride(2)>, fk::Bias>;
    each_zero({2, 3, 4, 5, 7}, [&](auto const& e, bool channels_last) {
        Part<Device, 4> x(device, fk::DataType::float32, laid_out<4>({{e[0], e[1], e[2], e[3]}}, channels_last), -1),
            w(device, fk::DataType::float32, fk::kcrs(e[1], e[4], 3, 3), -1);
        Part<Device, 1> bias(device, fk::DataType::float32, fk::channels(e[4]), 0);
        auto const layer = Layer::bind({w.view()}, {bias.view()});
        fk::Index<4> shape = layer.output_shape(x.view().layout.shape);
        for (bool const of_least : {true, false}) {
            if (!of_least)  // the filter maps 2 to 0
                for (int mode : {2, 3}) shape[mode] = shape[mode] == 0 ? 2 : shape[mode];
            Part<Device, 4> y(device, fk::DataType::float32, laid_out(shape, channels_last));
            check_run<float>(device, layer, x, y, [](auto const& at) { return channel_value(at[1]); });
        }
    });
}

template <class Device>
void check_empty_gemm(Device& device) {
    each_zero({3, 5, 7}, [&](auto const& e, bool) {
        Part<Device, 2> x(device, fk::DataType::float32, fk::row_major(e[0], e[1]), -1),
            w(device, fk::DataType::float32, fk::row_major(e[2], e[1]), -1),
            y(device, fk::DataType::float32, fk::row_major(e[0], e[2]));
        Part<Device, 1> bias(device, fk::DataType::float32, fk::channels(e[2]), 0);
        check_run<float>(device, fk::Plan<fk::Gemm, fk::Bias>::bind({w.view()}, {bias.view()}), x, y,
                         [](auto const& at) { return channel_value(at[1]); });
    });
    each_zero({2, 3, 5, 7}, [&](auto const& e, bool) {
        Part<Device, 3> x(device, fk::DataType::float32, fk::row_major(e[0], e[1], e[2]), -1),
            w(device, fk::DataType::float32, fk::row_major(e[0], e[3], e[2]), -1),
            y(device, fk::DataType::float32, fk::row_major(e[0], e[1], e[3]));
        Part<Device, 1> bias(device, fk::DataType::float32, fk::channels(e[3]), 0);
        check_run<float>(device, fk::Plan<fk::BatchedGemm, fk::Bias>::bind({w.view()}, {bias.view()}), x, y,
                         [](auto const& at) { return channel_value(at[2]); });
    });
}

/// Gradients of weights, followed by Scale and Residual, and of a bias.
template <auto Geometry, class Device>
void check_empty_weight_gradient(Device& device) {
    constexpr int rank = Geometry.rank + 2;
    std::int64_t extents[rank + 1] = {2, 6};
    for (int mode = 2; mode < rank; ++mode) extents[mode] = 2 + mode;
    extents[rank] = 4;
    each_zero(extents, [&](auto const& e, bool channels_last) {
        fk::Index<rank> of_x{}, of_dy{}, of_dw{};
        of_dw[0] = e[rank], of_dw[1] = e[1] / Geometry.group_count, of_dy[0] = e[0], of_dy[1] = e[rank];
        double pixels = static_cast<double>(e[0]);
        for (int mode = 0; mode < rank; ++mode) of_x[mode] = e[mode];
        for (int i = 0; i < Geometry.rank; ++i) {
            of_dw[2 + i] = Geometry.size[i], of_dy[2 + i] = Geometry.output(i, of_x[2 + i]);
            pixels *= static_cast<double>(of_dy[2 + i]);
        }
        Part<Device, rank> x(device, fk::DataType::float32, laid_out(of_x, channels_last), -1),
            dy(device, fk::DataType::float32, laid_out(of_dy, channels_last), 1),
            dw(device, fk::DataType::float32, laid_out(of_dw, channels_last));
        Part<Device, 1> db(device, fk::DataType::float32, fk::channels(e[rank]));
        check_run<float>(device,
                         fk::Plan<fk::ConvWeightGradient<Geometry>, fk::Scale>::bind(
                             {.dy = dy.view(), .bias_gradient = db.view()}, {.factor = 2}),
                         x, dw, [](auto const&) { return 0.0; });
        CHECK(db.holds([&](auto const& at) { return channel_value(at[0]) * pixels; }));
    });
}

}  // namespace test
