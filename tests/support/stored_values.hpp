// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "fusekit/fusekit.hpp"
#include "support/difference.hpp"
#include "support/filled.hpp"
#include "support/half_types.hpp"
#include "support/oracle.hpp"

namespace test {

/// Layouts of x, of y, and of the tensors stored beside it.
struct StoredLayouts {
    char const *x, *y, *values, *mask;
};

/// Runs a plan that ends with Bias, Store, StoreMask and Relu, after `first...`, the arguments of a Conv or none.
/// `sums` is the input of Bias.
template <class Plan, class T, class V, class Device, int Rank>
void check_stored(Device& device, StoredLayouts const& layouts, fk::TensorView<T const, Rank> const& x,
                  oracle::Tensor const& sums, auto const&... first) {
    INFO(fk::type_name<Plan>() << ' ' << layouts.x << ' ' << layouts.y << ' ' << layouts.values << ' ' << layouts.mask
                               << ' ' << fk::name(fk::data_type<T>) << ' ' << fk::name(fk::data_type<V>));
    Placed<Device, 1> b(device, fk::DataType::float32, fk::channels(sums.shape.c), integers(sums.shape.c, -3, 3, 5));
    auto const before = oracle::bias(sums, integers(sums.shape.c, -3, 3, 5));
    auto const mask = before.each([](Bounded v, std::size_t) { return Bounded{v.value > 0 ? 1.0 : 0.0}; });
    Placed<Device, Rank> y(device, fk::data_type<T>, layout_of<Rank>(layouts.y, sums.shape), 64),
        values(device, fk::data_type<V>, layout_of<Rank>(layouts.values, sums.shape), 64),
        positive(device, fk::DataType::int8, layout_of<Rank>(layouts.mask, sums.shape), 64);
    Plan::bind(first..., {.bias = b.any()}, {.values = values.template view<V>()},
               {.mask = positive.template view<fk::int8>()}, {})(device, x, y.template view<T>());
    CHECK(difference(oracle::activation(before, {"relu"}), y.fetch()) == "");
    CHECK(difference(before, values.fetch()) == "");
    CHECK(difference(mask, positive.fetch()) == "");
}

template <class T, class V, int Rank, class Device>
void check_stored_pointwise(Device& device, StoredLayouts const& layouts, oracle::Shape shape) {
    using Plan = fk::Plan<fk::Bias, fk::Store, fk::StoreMask, fk::Activation<fk::Relu>>;
    Filled<T, Device, Rank> x(device, layouts.x, shape, integers(shape.size(), -9, 9, 3));
    check_stored<Plan, T, V>(device, layouts, x.view(), oracle::Tensor(shape, x.values));
}

template <class T, class V, class Device>
void check_stored_conv(Device& device, StoredLayouts const& layouts, oracle::Shape shape, std::int64_t k,
                       oracle::Window const& f) {
    using Plan = fk::Plan<fk::Conv<fk::dynamic>, fk::Bias, fk::Store, fk::StoreMask, fk::Activation<fk::Relu>>;
    oracle::Shape const filter{k, shape.c / f.groups, f.r, f.s};
    Filled<T, Device, 4> x(device, layouts.x, shape, integers(shape.size(), -2, 2, 3));
    Filled<T, Device, 4> w(device, "nchw", filter, integers(filter.size(), -1, 1, 4));
    typename fk::Conv<fk::dynamic>::Args const conv{.weights = w.view(), .filter = filter_of(f)};
    check_stored<Plan, T, V>(device, layouts, x.view(), oracle::conv(oracle::Tensor(shape, x.values), w.values, k, f),
                             conv);
}

/// The values that a run stores after batch statistics, in their second pass, equal the result of the plan up to the
/// Store.
template <class T, class Device>
void check_stored_after_statistics(Device& device, char const* layout, oracle::Shape shape) {
    INFO(layout << ' ' << fk::name(fk::data_type<T>));
    using Norm = fk::BatchNormTraining<fk::Spatial>;
    Filled<T, Device, 4> x(device, layout, shape, integers(shape.size(), -9, 9, 3));
    Placed<Device, 1> scale(device, fk::DataType::float32, fk::channels(shape.c), integers(shape.c, 1, 3, 5)),
        shift(device, fk::DataType::float32, fk::channels(shape.c), integers(shape.c, -3, 3, 6));
    Placed<Device, 4> values(device, fk::data_type<T>, layout_of(layout, shape), 64),
        y(device, fk::data_type<T>, layout_of(layout, shape), 64),
        z(device, fk::data_type<T>, layout_of(layout, shape), 64);
    typename Norm::Args const norm{scale.template view<float const>(), shift.template view<float const>()};
    fk::Plan<Norm, fk::Store, fk::Activation<fk::Relu>>::bind(norm, {.values = values.template view<T>()}, {})(
        device, x.view(), y.template view<T>());
    fk::Plan<Norm>::bind(norm)(device, x.view(), z.template view<T>());
    CHECK(values.fetch().untouched());
    int wrong = 0;
    auto const &stored = values.fetch(), &whole = z.fetch(), &positive = y.fetch();
    whole.for_each([&](std::int64_t at) {
        wrong += stored.bits(at) != whole.bits(at) || positive.get(at) != std::fmax(whole.get(at), 0.0);
    });
    CHECK(wrong == 0);
}

/// Store and StoreMask in plans of every kind.
template <class Device>
void check_stored_values(Device& device) {
    StoredLayouts const images[] = {{"nchw", "nchw", "nchw", "nchw"},       {"nhwc", "nhwc", "nhwc", "nhwc"},
                                    {"nhwc", "nchw", "nhwc+1", "nchw"},     {"nchw", "nhwc", "nchw", "nhwc*2"},
                                    {"nchw+1", "nchw+1", "nchw*3", "nhwc"}, {"nchw-nw", "nchw!8", "nchw!8", "nchw!-3"}};
    oracle::Shape const shapes[] = {{2, 8, 4, 8},  {3, 5, 7, 9},  {1, 37, 1, 1},
                                    {2, 1, 3, 70}, {5, 16, 2, 2}, {4, 1, 2, 1}};
    for (StoredLayouts const& layouts : images) {
        for (oracle::Shape const& shape : shapes) {
            check_stored_pointwise<float, float, 4>(device, layouts, shape);
            check_stored_pointwise<fk::half, float, 4>(device, layouts, shape);
            check_stored_pointwise<LastHalf, fk::half, 4>(device, layouts, shape);
            check_stored_pointwise<float, fk::bfloat16, 4>(device, layouts, shape);
            check_stored_pointwise<fk::int8, fk::int8, 4>(device, layouts, shape);
        }
        check_stored_conv<float, float>(device, layouts, {2, 5, 9, 7}, 37, {.r = 1, .s = 1});
        check_stored_conv<fk::half, fk::half>(device, layouts, {2, 5, 9, 7}, 19,
                                              {.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1});
        check_stored_conv<LastHalf, float>(device, layouts, {1, 6, 9, 7}, 10,
                                           {.r = 3, .s = 2, .top = 1, .bottom = 1, .u = 2, .v = 2, .groups = 2});
        check_stored_conv<float, fk::bfloat16>(
            device, layouts, {2, 9, 5, 11}, 9,
            {.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1, .groups = 9});
    }
    check_stored_pointwise<float, fk::half, 3>(device, {"ncw", "ncw", "nwc", "ncw+1"}, {2, 6, 1, 21});
    check_stored_pointwise<fk::half, float, 5>(device, {"ncdhw", "ncdhw", "ndhwc", "ncdhw"}, {2, 5, 3, 4, 2});
    for (char const* layout : {"nchw", "nhwc", "nchw+1"})
        for (oracle::Shape const& shape : {oracle::Shape{3, 5, 7, 7}, oracle::Shape{2, 8, 4, 4}}) {
            check_stored_after_statistics<float>(device, layout, shape);
            check_stored_after_statistics<fk::half>(device, layout, shape);
        }
}

}  // namespace test
