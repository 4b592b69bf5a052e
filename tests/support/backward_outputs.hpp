// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/difference.hpp"
#include "support/effort.hpp"
#include "support/filled.hpp"
#include "support/oracle.hpp"

namespace test {

/// Layouts of x, of dy and dx, of z, and of its gradient.
struct GradientLayouts {
    char const *x, *dy, *z, *dz;
};

/// Gradients of plans that store beside y, and of Residual's z, which is stored beside dx; all in integers. The plans
/// are First, the storing operators, Residual, Relu and Scale. First is Bias, or batch norm in training with scale and
/// shift `scale`, saved mean `bias` and saved inverse deviation 1.
template <class First, class T, class V, int Rank, class Device>
class GradientsBesideOutputs {
    static constexpr bool trains = fk::ReductionOp<First>;
    static constexpr float alpha2 = 3, factor = 2;
    using Relu = fk::Activation<fk::Relu>;

    Device& device;
    GradientLayouts const layouts;
    oracle::Shape const shape;
    Filled<T, Device, Rank> x, dy;
    Filled<V, Device, Rank> z;
    std::vector<double> const bias, scale;
    Placed<Device, 1> placed_bias, placed_scale, ones;

    /// Poisoned outputs.
    struct Results {
        Placed<Device, Rank> dx, dz;
        Placed<Device, 1> one, two;  ///< gradients of First's parameters

        bool untouched() {
            return dx.fetch().untouched(true) && dz.fetch().untouched(true) && one.fetch().untouched(true) &&
                   two.fetch().untouched(true);
        }
    };

public:
    GradientsBesideOutputs(Device& device, GradientLayouts const& layouts, oracle::Shape shape)
        : device(device),
          layouts(layouts),
          shape(shape),
          x(device, layouts.x, shape, integers(shape.size(), -9, 9, 3)),
          dy(device, layouts.dy, shape, integers(shape.size(), -9, 9, 4)),
          z(device, layouts.z, shape, integers(shape.size(), -5, 5, 5)),
          bias(integers(shape.c, -3, 3, 6)),
          scale(integers(shape.c, 1, 3, 7)),
          placed_bias(device, fk::DataType::float32, fk::channels(shape.c), bias),
          placed_scale(device, fk::DataType::float32, fk::channels(shape.c), scale),
          ones(device, fk::DataType::float32, fk::channels(shape.c), integers(shape.c, 1, 1, 8)) {}

    /// Checks dz; checks that dx and the gradients of First's parameters are bitwise identical with and without dz, and
    /// with and without stores in the forward plan, which are not repeated.
    void check() {
        INFO(fk::type_name<First>() << ' ' << layouts.x << ' ' << layouts.dy << ' ' << layouts.z << ' ' << layouts.dz
                                    << ' ' << shape.n << ' ' << shape.c << ' ' << shape.h << ' ' << shape.w << ' '
                                    << fk::name(fk::data_type<T>) << ' ' << fk::name(fk::data_type<V>));
        Results alone = results(), got = results(), beside = results();
        run(fk::Plan<First, fk::Residual, Relu, fk::Scale>::bind(first(), residual(), {}, {factor}), alone, {});

        fk::Residual::Gradients const dz{.z = got.dz.template view<V>()};
        fk::Store::Args const values{beside.dx.template view<T>()};
        fk::StoreMask::Args const mask{beside.dz.template view<V>()};
        if constexpr (trains)
            run(fk::Plan<First, fk::Store, fk::StoreMask, fk::Residual, Relu, fk::Scale>::bind(
                    first(), values, mask, residual(), {}, {factor}),
                got, dz);
        else
            run(fk::Plan<First, fk::Store, fk::ChannelStatistics, fk::StoreMask, fk::Residual, Relu, fk::Scale>::bind(
                    first(), values,
                    {.mean = beside.one.template view<float>(), .variance = beside.two.template view<float>()}, mask,
                    residual(), {}, {factor}),
                got, dz);

        auto const left = what_is_left_of_dy();
        CHECK(difference(left.each([](Bounded v, std::size_t) { return v * Bounded{alpha2}; }), got.dz.fetch()) == "");
        if constexpr (!trains) CHECK(difference(left, got.dx.fetch()) == "");
        CHECK(same(alone.dx, got.dx));
        CHECK(same(alone.one, got.one));
        CHECK(same(alone.two, got.two));
        CHECK(alone.dz.fetch().untouched(true));
        CHECK(beside.untouched());
    }

private:
    Results results() {
        auto const y = layout_of<Rank>(layouts.dy, shape), own = layout_of<Rank>(layouts.dz, shape);
        auto const parameter = [&] {
            return Placed<Device, 1>(device, fk::DataType::float32, fk::channels(shape.c), 64);
        };
        return {Placed<Device, Rank>(device, fk::data_type<T>, y, 64),
                Placed<Device, Rank>(device, fk::data_type<V>, own, 64), parameter(), parameter()};
    }
    typename First::Args first() {
        if constexpr (trains)
            return {.scale = placed_scale.template view<float const>(),
                    .shift = placed_scale.template view<float const>(),
                    .saved_mean = placed_bias.template view<float>(),
                    .saved_inverse_deviation = ones.template view<float>()};
        else return {.bias = placed_bias.any()};
    }
    fk::Residual::Args residual() { return {z.memory.any(), alpha2}; }

    template <class... Ops>
    void run(fk::BoundPlan<fk::detail::FusedPlan<Ops...>> const& layer, Results& to,
             fk::Residual::Gradients const& dz) {
        fk::Backward<fk::Plan<Ops...>>::bind(layer, x.view(), gradients(static_cast<Ops*>(nullptr), to, dz)...)(
            device, dy.view(), to.dx.template view<T>());
    }
    template <class Op>
    auto gradients(Op*, Results& to, fk::Residual::Gradients const& dz) {
        if constexpr (std::is_same_v<Op, fk::Residual>) return dz;
        else if constexpr (!std::is_same_v<Op, First>) return typename fk::detail::GradientsOf<Op>::Type{};
        else if constexpr (!trains) return typename Op::Gradients{to.one.template view<float>()};
        else return typename Op::Gradients{to.one.template view<float>(), to.two.template view<float>()};
    }

    /// Gradient at the Relu's input u: dy times the factor where u > 0, 0 elsewhere.
    oracle::Tensor what_is_left_of_dy() {
        oracle::Tensor const input(shape, x.values);
        auto const after_first = input.each([&](Bounded v, std::size_t i) {
            Bounded const b{bias[input.channel(i)]}, s{scale[input.channel(i)]};
            return trains ? (v - b) * s + s : v + b;
        });
        return oracle::residual(after_first, z.values, alpha2).each([&](Bounded u, std::size_t i) {
            return Bounded{u.value > 0 ? factor * dy.values[i] : 0};
        });
    }

    template <int R>
    static bool same(Placed<Device, R>& expected, Placed<Device, R>& got) {
        auto one = expected.fetch(), other = got.fetch();
        return other.untouched() && one.raw() == other.raw();
    }
};

/// Checks every layout and type.
template <class Device>
void check_gradients_beside_outputs(Device& device) {
    using Train = fk::BatchNormTraining<fk::Spatial>;
    auto const check = [&]<class First, class T, class V, int Rank>(GradientLayouts const& layouts,
                                                                    oracle::Shape shape) {
        GradientsBesideOutputs<First, T, V, Rank, Device>(device, layouts, shape).check();
    };
    GradientLayouts const images[] = {{"nchw", "nchw", "nchw", "nchw"},
                                      {"nhwc", "nhwc", "nhwc", "nhwc"},
                                      {"nhwc", "nchw", "nhwc+1", "nchw"},
                                      {"nchw", "nhwc", "nchw", "nhwc*2"},
                                      {"nchw+1", "nchw+1", "nchw*3", "nhwc"}};
    oracle::Shape const shapes[] = {{2, 8, 4, 8}, {3, 8, 7, 9}, {3, 5, 7, 9}, {1, 37, 1, 1}, {2, 1, 3, 70}};
    int pair = 0;  // five shapes for each layout: layouts alternate in their first shape
    for (GradientLayouts const& layouts : images)
        for (oracle::Shape const& shape : shapes) {
            if (pair++ % one_pair_in) continue;
            check.template operator()<fk::Bias, float, float, 4>(layouts, shape);
            check.template operator()<fk::Bias, fk::half, float, 4>(layouts, shape);
            check.template operator()<Train, float, fk::half, 4>(layouts, shape);
            check.template operator()<Train, fk::half, fk::half, 4>(layouts, shape);
            check.template operator()<Train, fk::bfloat16, fk::int8, 4>(layouts, shape);
        }
    check.template operator()<fk::Bias, float, fk::bfloat16, 3>({"ncw", "ncw", "nwc", "ncw+1"}, {2, 6, 1, 21});
    check.template operator()<Train, fk::half, float, 5>({"ncdhw", "ncdhw", "ndhwc", "ncdhw"}, {2, 5, 3, 4, 2});
}

}  // namespace test
