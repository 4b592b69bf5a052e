// SPDX-License-Identifier: MIT
#pragma once

#include "plan/pointwise_plans.hpp"
#include "plan/slope.hpp"

namespace test {

template <class Op>
double slope_of(double x, fk::DoubleCoord const& at, typename Op::Args const& args) {
    static_assert(fk::Differentiable<Op, double, fk::DoubleCoord>);
    if constexpr (fk::Pixelwise<Op, double, fk::DoubleCoord>) return Op::slope(x, Op::prepare(at, args));
    else if constexpr (fk::Channelwise<Op, double>) return Op::slope(x, Op::template prepare<double>(at.k, args));
    else if constexpr (fk::Uniform<Op, double>) return Op::slope(x, args);
    else return Op::slope(x, at, args);
}

/// Derivative of a chain of operators at one element: the product of their slopes, each at the value that the preceding
/// operators compute (chain rule).
template <class... Ops, class Args>
double slope_of_chain(double x, fk::DoubleCoord const& at, Args const& args) {
    double product = 1;
    [&]<int... I>(std::integer_sequence<int, I...>) {
        ((product *= slope_of<Ops>(x, at, fk::detail::get<I>(args)),
          x = fk::detail::Epilogue<Ops>::apply(
              x, at, fk::detail::Epilogue<Ops>::template prepare<double>(at.k, {{fk::detail::get<I>(args)}}),
              {{fk::detail::get<I>(args)}})),
         ...);
    }(std::make_integer_sequence<int, sizeof...(Ops)>{});
    return product;
}

/// Gradient views of an operator, in memory that is appended to `memory`.
template <class Op>
auto gradients_into(std::vector<std::vector<float>>& memory, bool given, fk::Layout<4> const& x) {
    if constexpr (!requires { typename Op::Gradients; }) {
        return typename fk::detail::GradientsOf<Op>::Type{};
    } else {
        typename Op::Gradients gradients;
        if (!given) return gradients;
        auto const add = [&]<int Rank>(fk::OptionalView<float, Rank>& view) {
            fk::Index<4> const& shape = x.shape;
            fk::Layout<Rank> layout;
            if constexpr (Rank == 1) layout = fk::channels(shape[1]);
            else layout = fk::chw(shape[1], shape[2], shape[3]);
            auto& values = memory.emplace_back(static_cast<std::size_t>(layout.size()));
            view = fk::TensorView<float, Rank>(values.data(), layout);
        };
        if constexpr (requires { gradients.z; })
            gradients.z = fk::TensorView<float>(memory.emplace_back(static_cast<std::size_t>(x.size())).data(), x);
        else if constexpr (requires { gradients.bias; }) add(gradients.bias);
        else add(gradients.scale), add(gradients.shift);
        return gradients;
    }
}

template <class... Ops>
PlanGradients backward_of(Problem const& problem, std::vector<double> const& dy, fk::host::Device& device) {
    Arguments<double, fk::host::Device, 2> arguments(problem, device);
    fk::Layout<4> const layout = layout_of<4>("nchw", problem.about.x);
    PlanGradients all{std::vector<double>(dy.size()), std::vector<std::vector<std::vector<float>>>(sizeof...(Ops))};
    bool const per_pixel = problem.about.form.find('M') != std::string::npos;
    auto const layer = test::detail::bind<fk::Plan<Ops...>, Ops...>(arguments);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        fk::Backward<fk::detail::FusedPlan<Ops...>>::bind(
            layer, arguments.input(),
            gradients_into<Ops>(all.parameters[I], !per_pixel || !std::is_same_v<Ops, fk::Bias>, layout)...)(
            device, fk::TensorView<double const>(dy.data(), layout), fk::TensorView<double>(all.dx.data(), layout));
    }(std::index_sequence_for<Ops...>{});
    return all;
}

template <class... Ops>
Chain chain_of(Problem const& problem, Arguments<double, fk::host::Device, 2>& arguments, fk::host::Device& device) {
    auto const bound = test::detail::bind<fk::Plan<Ops...>, Ops...>(arguments);
    oracle::Shape const s = problem.about.x;
    auto const run = [bound, &device, x = problem.x, s](std::size_t element, double value) mutable {
        fk::Layout<4> const layout = layout_of<4>("nchw", s);
        std::vector<double> y(x.size());
        double const kept = std::exchange(x[element], value);
        bound(device, fk::TensorView<double const>(x.data(), layout), fk::TensorView<double>(y.data(), layout));
        x[element] = kept;
        return y[element];
    };
    auto const slope = [bound, s](std::size_t element, double value) {
        auto const i = static_cast<std::int64_t>(element);
        fk::DoubleCoord const at{{i / (s.c * s.h * s.w), i / (s.h * s.w) % s.c, i / s.w % s.h, i % s.w}};
        return slope_of_chain<Ops...>(value, at, bound.epilogue);
    };
    auto const all = [&device](Problem const& problem) {
        Arguments<double, fk::host::Device, 2> arguments(problem, device);
        std::vector<double> y(problem.x.size());
        test::detail::bind<fk::Plan<Ops...>, Ops...>(arguments)(
            device, arguments.input(), fk::TensorView<double>(y.data(), layout_of<4>("nchw", problem.about.x)));
        return y;
    };
    auto const backward = [&](std::vector<double> const& dy) { return backward_of<Ops...>(problem, dy, device); };
    return {run, slope, all, backward};
}

}  // namespace test

template <int Shard, int Shards>
void test::for_each_chain(fk::host::Device& device, std::function<void(Problem const&, Chain const&)> const& check) {
    grammar::for_each_pointwise_plan<Shard, Shards>([&]<class... Ops>(grammar::Pointwise const& plan) {
        Problem const problem(plan.about());
        Arguments<double, fk::host::Device, 2> arguments(problem, device);
        check(problem, chain_of<Ops...>(problem, arguments, device));
    });
}
