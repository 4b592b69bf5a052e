// SPDX-License-Identifier: MIT
#include "fusekit/plan/row_gradient.hpp"

#include <catch2/catch_test_macros.hpp>

#include "fusekit/fusekit.hpp"
#include "support/refusal.hpp"
#include "support/row_gradients.hpp"

using namespace test;

static_assert(fk::DifferentiableRowOp<fk::LayerNorm> && fk::DifferentiableRowOp<fk::LogSoftmax>);

TEST_CASE("gradients of norms and softmax of rows agree with their definitions, on any layout") {
    fk::host::Device device(2);
    check_row_gradients_of<float, true>(device, {{2, 12, 3, 5}, {3, 40, 2, 4}, {1, 1, 1, 1}});
    check_row_gradients_of<fk::half, false>(device, {{1, 68, 1, 3}});
    check_row_gradients_of<fk::bfloat16, false>(device, {{2, 7, 8, 8}});
}

namespace {

/// Gradients with respect to x of a plan on double against central differences of sum(dy * y).
template <class Layer>
void check_differences(fk::Layout<4> const& layout, fk::BoundPlan<Layer> const& layer, auto const&... gradients) {
    fk::host::Device device(2);
    auto x = fk::random<double>(device, layout);
    auto const dy = fk::random<double>(device, layout, 2);
    auto dx = fk::random<double>(device, layout, 3);
    fk::Backward<Layer>::bind(layer, x, gradients...)(device, dy, dx.view());
    double* const at = x.view().data;
    auto const loss = [&] {
        auto const y = layer(device, x);
        double sum = 0;
        for (std::int64_t i = 0; i < y.size(); ++i) sum += y.const_view().data[i] * dy.const_view().data[i];
        return sum;
    };
    double worst = 0, step = 0x1p-12;
    for (std::int64_t i = 0; i < x.size(); ++i) {
        double const own = at[i];
        at[i] = own + step;
        double const above = loss();
        at[i] = own - step;
        double const difference = (above - loss()) / (2 * step);
        at[i] = own;
        worst = std::max(worst, std::fabs(difference - dx.const_view().data[i]));
    }
    CHECK(worst < 1e-5);
}

}  // namespace

TEST_CASE("gradients of rows on double agree with central differences") {
    float scale[6] = {1, -2, 0.5f, 3, 1, 2}, shift[6] = {0, 1, 2, -1, 0.5f, 0};
    fk::TensorView<float const, 1> const a(scale, fk::channels(6)), b(shift, fk::channels(6));
    using Gelu = fk::Activation<fk::Gelu>;
    for (auto const& layout : {fk::nchw(2, 6, 2, 3), fk::nhwc(2, 2, 3, 6)}) {
        check_differences<fk::Plan<fk::LayerNorm, Gelu>>(
            layout, fk::Plan<fk::LayerNorm, Gelu>::bind({.scale = a, .shift = b, .epsilon = 0.1f}, {}));
        check_differences<fk::Plan<fk::RmsNorm, Gelu>>(
            layout, fk::Plan<fk::RmsNorm, Gelu>::bind({.scale = a, .epsilon = 0.1f}, {}));
        check_differences<fk::Plan<fk::GroupNorm>>(
            layout, fk::Plan<fk::GroupNorm>::bind({.groups = 3, .scale = a, .shift = b, .epsilon = 0.1f}));
        check_differences<fk::Plan<fk::Softmax, Gelu>>(layout, fk::Plan<fk::Softmax, Gelu>::bind({}, {}));
        check_differences<fk::Plan<fk::LogSoftmax, Gelu>>(layout, fk::Plan<fk::LogSoftmax, Gelu>::bind({}, {}));
    }
}

TEST_CASE("rows of matrices have the gradients of the rows of images, and dx may be dy") {
    fk::host::Device one(1), three(3);
    std::int64_t const m = 7, n = 33;
    auto const images = fk::nhwc(1, 1, m, n);
    auto const x = fk::random<float>(one, images), dy = fk::random<float>(one, images, 2);
    auto expected = fk::random<float>(one, images), in_place = fk::random<float>(one, images);
    std::vector<float> scale(static_cast<std::size_t>(n)), shift(scale.size()), other_scale(scale.size()),
        other_shift(scale.size());
    auto const view = [&](std::vector<float>& of) { return fk::TensorView<float, 1>(of.data(), fk::channels(n)); };
    using Layer = fk::Plan<fk::LayerNorm>;
    auto const layer = Layer::bind({});
    fk::Backward<Layer>::bind(layer, x, {.scale = view(scale), .shift = view(shift)})(one, dy, expected.view());
    auto const check = [&](auto const& layout) {
        constexpr int rank = std::remove_cvref_t<decltype(layout)>::rank;
        std::copy_n(dy.const_view().data, m * n, in_place.view().data);
        fk::TensorView<float const, rank> const from(x.const_view().data, layout);
        fk::TensorView<float, rank> const to(in_place.view().data, layout);
        fk::Backward<Layer>::bind(layer, from, {.scale = view(other_scale), .shift = view(other_shift)})(three, to, to);
        CHECK(std::equal(to.data, to.data + m * n, expected.const_view().data));
        CHECK((scale == other_scale && shift == other_shift));
    };
    check(fk::row_major(m, n));
    check(fk::row_major(1, m, n));
}

TEST_CASE("parameter gradients of rows without elements are 0") {
    fk::host::Device device(1);
    float scale[3] = {1, 2, 3}, shift[3] = {4, 5, 6};
    fk::TensorView<float, 1> const dscale(scale, fk::channels(3)), dshift(shift, fk::channels(3));
    fk::TensorView<float> const none(scale, fk::nchw(0, 3, 2, 2));
    using Layer = fk::Plan<fk::LayerNorm>;
    fk::Backward<Layer>::bind(Layer::bind({}), none, {.scale = dscale, .shift = dshift})(device, none, none);
    for (int k = 0; k < 3; ++k) CHECK((scale[k] == 0 && shift[k] == 0));
}

TEST_CASE("Backward of rows refuses invalid arguments and writes nothing") {
    fk::host::Device device(1);
    auto const layout = fk::nchw(2, 12, 1, 3);
    auto const x = fk::random<float>(device, layout), dy = fk::random<float>(device, layout, 2);
    auto const halves = fk::random<fk::half>(device, layout);
    Memory<4> dx(fk::DataType::float32, layout, 16);
    Memory<1> dscale(fk::DataType::float32, fk::channels(5), 16);
    using Layer = fk::Plan<fk::GroupNorm, fk::Scale>;
    auto const run = [&](std::int64_t groups, fk::AnyActivations const& from, auto const& gradients) {
        return refusal([&] {
            auto const layer = Layer::bind({.groups = groups}, {});
            fk::Backward<Layer>::bind(layer, from, gradients, {})(device, dy, dx.view<float>());
        });
    };
    using Gradients = fk::GroupNorm::Affine::Gradients;
    std::string const plan = "Plan<Gradient<GroupNorm, Scale>>: ";
    CHECK(run(5, x, Gradients{}) == plan + "GroupNorm.groups: expected a divisor of K = 12, got 5");
    CHECK(run(4, halves, Gradients{}) == plan + "Gradient<GroupNorm, Scale>.x: expected float, as dy, got half");
    CHECK(run(4, x, Gradients{.scale = dscale.view<float>()})
              .starts_with(plan + "GroupNorm.gradients.scale: expected 12"));
    CHECK((dx.untouched(true) && dscale.untouched(true)));
}
