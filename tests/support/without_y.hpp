// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>

#include "fusekit/fusekit.hpp"
#include "support/filled.hpp"

/// Runs with fk::no_output, for the tensors that operators store.
namespace test {

/// Tensors that a plan may store beside y, poisoned.
template <class T, class Device>
struct BesideY {
    Placed<Device, 4> values;
    Placed<Device, 1> mean, variance, scratch;

    BesideY(Device& device, fk::Layout<4> const& layout)
        : values(device, fk::data_type<T>, layout, 64),
          mean(device, fk::DataType::float32, fk::channels(layout.shape[1]), 16),
          variance(device, fk::DataType::float32, fk::channels(layout.shape[1]), 16),
          scratch(device, fk::DataType::float32, fk::channels(fk::ChannelStatistics::scratch(layout.shape)), 16) {}

    fk::Store::Args store() { return {.values = values.template view<T>()}; }
    fk::ChannelStatistics::Args statistics(bool of_tiles) {
        fk::ChannelStatistics::Args args{mean.template view<float>(), variance.template view<float>()};
        if (of_tiles) args.scratch = scratch.template view<float>();
        return args;
    }
    bool same(BesideY& other) {
        return values.fetch().raw() == other.values.fetch().raw() && mean.fetch().raw() == other.mean.fetch().raw() &&
               variance.fetch().raw() == other.variance.fetch().raw();
    }
    bool written() {
        return !values.fetch().untouched(true) || !mean.fetch().untouched(true) || !variance.fetch().untouched(true);
    }
};

/// Checks that a layer stores the same tensors with and without y, called and prepared. bind(beside) makes the layer;
/// `shape` is that of the values its operators pass on.
template <class T, class Device>
void check_beside_y(Device& device, std::string const& layout, oracle::Shape x, oracle::Shape shape, auto const& bind) {
    INFO(layout << ' ' << x.n << ' ' << x.c << ' ' << x.h << ' ' << x.w << ' ' << fk::name(fk::data_type<T>));
    Filled<T, Device, 4> input(device, layout, x, integers(x.size(), -3, 4, 3));
    fk::Layout<4> const beside = layout_of<4>(layout, shape);
    BesideY<T, Device> expected(device, beside), called(device, beside), prepared(device, beside),
        of_layout(device, beside);
    auto const layer = bind(expected);
    INFO(fk::type_name<typename decltype(layer)::Plan>());
    static_cast<void>(layer(device, input.view()));
    bind(called)(device, input.view(), fk::no_output);
    bind(prepared).prepare(device, input.view(), fk::no_output)(device, input.view(), fk::no_output);
    bind(of_layout).template prepare<T>(device, input.view().layout, fk::no_output)(device, input.view().data,
                                                                                    fk::no_output);
    CHECK(expected.written());
    CHECK(called.same(expected));
    CHECK(prepared.same(expected));
    CHECK(of_layout.same(expected));
}

/// Stores and statistics after every kind of head.
template <class T, class Device>
void check_stores_without_y(Device& device) {
    using Relu = fk::Activation<fk::Relu>;
    for (char const* layout : {"nchw", "nhwc", "nchw+1"})
        for (oracle::Shape const& x : {oracle::Shape{2, 9, 5, 7}, {3, 18, 4, 8}, {4, 72, 1, 1}}) {
            auto const check = [&](std::int64_t k, auto const& bind) {
                check_beside_y<T>(device, layout, x, {x.n, k, x.h, x.w}, bind);
            };
            check(x.c,
                  [](auto& y) { return fk::Plan<fk::Scale, fk::Store, Relu>::bind({.factor = 2}, y.store(), {}); });
            check(x.c, [](auto& y) { return fk::Plan<fk::ChannelStatistics>::bind(y.statistics(false)); });
            check(x.c, [](auto& y) { return fk::Plan<fk::Store, fk::GlobalAverage>::bind(y.store(), {}); });
            Filled<T, Device, 4> w(device, "nchw", {21, x.c, 3, 3}, integers(21 * x.c * 9, -1, 1, 4)),
                thin(device, "nchw", {x.c, 1, 3, 3}, integers(x.c * 9, -1, 1, 4));
            using Conv = fk::Plan<fk::Conv<fk::dynamic>, fk::Store, Relu>;
            using Totals = fk::Plan<fk::Conv<fk::dynamic>, fk::Scale, fk::ChannelStatistics, Relu>;
            auto const f = fk::filter(3, 3).pad(1);
            auto const groups = static_cast<int>(x.c);
            check(21, [&](auto& y) { return Conv::bind({w.view(), f}, y.store(), {}); });
            check(21, [&](auto& y) { return Totals::bind({w.view(), f}, {.factor = 2}, y.statistics(true), {}); });
            check(x.c, [&](auto& y) { return Conv::bind({thin.view(), f.groups(groups)}, y.store(), {}); });
            check(x.c, [&](auto& y) {
                return Totals::bind({thin.view(), f.groups(groups)}, {.factor = 2}, y.statistics(true), {});
            });
            if (x.h % 2 == 0 && x.w % 2 == 0)
                check(21, [&](auto& y) {
                    return fk::Plan<fk::Conv<fk::dynamic>, fk::Store, fk::Pool<fk::Max, 2, 2>>::bind({w.view(), f},
                                                                                                     y.store(), {});
                });
        }
}

/// Saved statistics and parameter gradients of training, without dx.
template <class T, class Device>
void check_training_without_y(Device& device) {
    using Layer = fk::Plan<fk::BatchNormTraining<fk::Spatial>, fk::Activation<fk::Relu>>;
    for (char const* layout : {"nchw", "nhwc", "nhwc+1"})
        for (oracle::Shape const& x : {oracle::Shape{2, 9, 5, 7}, {4, 16, 8, 8}}) {
            Placed<Device, 1> ones(device, fk::DataType::float32, fk::channels(x.c),
                                   std::vector<double>(static_cast<std::size_t>(x.c), 1));
            auto const parameters = ones.template view<float const>();
            auto const bind = [&](auto& y) {
                return Layer::bind({.scale = parameters,
                                    .shift = parameters,
                                    .saved_mean = y.mean.template view<float>(),
                                    .saved_inverse_deviation = y.variance.template view<float>()},
                                   {});
            };
            check_beside_y<T>(device, layout, x, x, bind);
            Filled<T, Device, 4> forward(device, layout, x, integers(x.size(), -3, 4, 5));
            BesideY<T, Device> saved(device, layout_of<4>(layout, x));
            auto const layer = bind(saved);
            static_cast<void>(layer(device, forward.view()));
            check_beside_y<T>(device, layout, x, x, [&](auto& y) {
                return fk::Backward<Layer>::bind(
                    layer, forward.view(), {y.mean.template view<float>(), y.variance.template view<float>()}, {});
            });
        }
}

}  // namespace test
