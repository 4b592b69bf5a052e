// SPDX-License-Identifier: MIT
#pragma once

#include <list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/difference.hpp"
#include "support/memory.hpp"
#include "support/problem.hpp"

namespace test {

/// A plan that cases can name, run through the library.
struct Form {
    std::string letters, mode;

    /// What differs from `expected`; empty where nothing does.
    std::string (*run)(Problem const& problem, oracle::Tensor const& expected, fk::host::Device& device);
};

/// The operators' arguments, in memory of their own: x, weights and every parameter of a problem.
template <class T>
class Arguments {
public:
    explicit Arguments(Problem const& problem)
        : problem(problem),
          misalign(static_cast<int>(problem.about.seed % 3)),
          x(fk::data_type<T>, layout_of(problem.about.x_layout, problem.about.x), problem.x, misalign),
          weights(fk::data_type<T>, weights_layout(problem.about), weights_of(problem), misalign) {}

    fk::TensorView<T const> input() { return x.template view<T const>(); }

    /// Of the operator at `position` of the epilogue.
    template <class Op>
    typename Op::Args of(int position) {
        return make(static_cast<Op*>(nullptr), problem.steps[static_cast<std::size_t>(position)]);
    }
    template <auto Geometry>
    typename fk::Conv<Geometry>::Args conv() {
        if constexpr (std::is_same_v<std::remove_const_t<decltype(Geometry)>, fk::Dynamic>) return {weights.any(), problem.about.filter()};
        else return {weights.any()};
    }

private:
    Problem const& problem;
    int misalign;
    Memory<4> x, weights;
    std::list<Memory<1>> vectors;  // lists, because views into them must stay
    std::list<Memory<3>> maps;
    std::list<Memory<4>> tensors;

    static fk::Layout<4> weights_layout(Case const& about) {
        return layout_of(about.w_layout, {about.k, about.x.c / about.window.groups, about.window.r, about.window.s});
    }
    static std::vector<double> weights_of(Problem const& problem) {
        auto const size = static_cast<std::size_t>(weights_layout(problem.about).size());
        return problem.weights.empty() ? std::vector<double>(size) : problem.weights;
    }

    Memory<1>& vector(fk::DataType type, std::vector<double> const& values) {
        return vectors.emplace_back(type, fk::channels(problem.about.y().c), values, misalign);
    }
    fk::TensorView<float const, 1> floats(std::vector<double> const& values) {
        return vector(fk::DataType::float32, values).template view<float const>();
    }
    fk::TensorView<float const, 3> map(std::vector<double> const& values) {
        oracle::Shape const y = problem.about.y();
        bool const last = problem.about.y_layout.starts_with("nhwc");
        auto const layout = last ? fk::hwc(y.h, y.w, y.c) : fk::chw(y.c, y.h, y.w);
        return maps.emplace_back(fk::DataType::float32, layout, values, misalign).template view<float const>();
    }

    fk::Bias::Args make(fk::Bias*, Step const& step) { return {vector(problem.about.parameters, step.values).any()}; }
    auto make(fk::BatchNormInference<fk::Spatial>*, Step const& step) -> fk::BatchNormInference<fk::Spatial>::Args {
        oracle::Statistics const& s = step.statistics;
        return {floats(s.mean), floats(s.variance), floats(s.scale), floats(s.shift), static_cast<float>(s.epsilon)};
    }
    auto make(fk::BatchNormInference<fk::PerActivation>*, Step const& step) -> fk::BatchNormInference<fk::PerActivation>::Args {
        oracle::Statistics const& s = step.statistics;
        return {map(s.mean), map(s.variance), map(s.scale), map(s.shift), static_cast<float>(s.epsilon)};
    }
    fk::Residual::Args make(fk::Residual*, Step const& step) {
        auto& z = tensors.emplace_back(problem.about.parameters, layout_of(problem.about.y_layout, problem.about.y()),
                                       step.values, misalign);
        return {z.any(), static_cast<float>(step.factor)};
    }
    fk::Scale::Args make(fk::Scale*, Step const& step) { return {static_cast<float>(step.factor)}; }
    template <class Mode>
    typename Mode::Args make(fk::Activation<Mode>*, Step const& step) {
        typename Mode::Args args{};
        if constexpr (requires { args.alpha; }) args.alpha = static_cast<float>(step.mode.alpha);
        if constexpr (requires { args.beta; }) args.beta = static_cast<float>(step.mode.beta);
        if constexpr (requires { args.gamma; }) args.gamma = static_cast<float>(step.mode.gamma);
        return args;
    }
};

template <class T, class Bound>
std::string run_bound(Bound const& bound, Arguments<T>& arguments, Problem const& problem, oracle::Tensor const& expected,
                      fk::host::Device& device) {
    Case const& about = problem.about;
    Memory<4> y(fk::data_type<T>, layout_of(about.y_layout, about.y()), 64, static_cast<int>(about.seed % 2));
    bound(device, arguments.input(), y.template view<T>());
    return difference(expected, y);
}

namespace detail {

/// Plan<Ops...>::bind with `first...`, the arguments of a Conv or none, and then those of the epilogue.
template <class Plan, class... Epilogue, class T>
auto bind(Arguments<T>& arguments, auto const&... first) {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
        return Plan::bind(first..., arguments.template of<Epilogue>(I)...);
    }(std::make_integer_sequence<int, sizeof...(Epilogue)>{});
}

}  // namespace detail

/// Runs Plan<Conv<Geometry>, Ops...>, or Plan<Ops...>, on the numbers of a problem.
template <class T, auto Geometry, class... Ops>
std::string run_conv(Problem const& problem, oracle::Tensor const& expected, fk::host::Device& device) {
    Arguments<T> arguments(problem);
    auto const bound = detail::bind<fk::Plan<fk::Conv<Geometry>, Ops...>, Ops...>(arguments, arguments.template conv<Geometry>());
    return run_bound<T>(bound, arguments, problem, expected, device);
}
template <class T, class... Ops>
std::string run_pointwise(Problem const& problem, oracle::Tensor const& expected, fk::host::Device& device) {
    Arguments<T> arguments(problem);
    return run_bound<T>(detail::bind<fk::Plan<Ops...>, Ops...>(arguments), arguments, problem, expected, device);
}

}  // namespace test
