// SPDX-License-Identifier: MIT
#pragma once

#include <list>
#include <string>
#include <utility>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/difference.hpp"
#include "support/element_types.hpp"
#include "support/placed.hpp"
#include "support/problem.hpp"

namespace test {

/// Runs a plan on the numbers of a problem. Returns the difference from `expected`; empty if none.
template <class Device>
using Run = std::string (*)(Problem const& problem, oracle::Tensor const& expected, Device& device);

/// A plan that cases can name.
template <class Device>
struct Form {
    std::string letters, mode;
    Run<Device> run;
};

/// Layout of per-pixel parameters, K x P x Q, in the memory order of the output.
template <int Space>
fk::Layout<Space + 1> map_layout(Case const& about) {
    oracle::Shape const y = about.y();
    auto const& word = about.y_layout;
    bool const last = word.starts_with("nwc") || word.starts_with("nhwc") || word.starts_with("ndhwc");
    if constexpr (Space == 1) return last ? fk::wc(y.w, y.c) : fk::cw(y.c, y.w);
    else if constexpr (Space == 2) return last ? fk::hwc(y.h, y.w, y.c) : fk::chw(y.c, y.h, y.w);
    else return last ? fk::dhwc(y.d, y.h, y.w, y.c) : fk::cdhw(y.c, y.d, y.h, y.w);
}

/// Arguments of the operators, in separate memory: x, weights and every parameter of a problem.
template <class T, class Device, int Space, class W = T>
class Arguments {
    static constexpr int rank = Space + 2;

public:
    Arguments(Problem const& problem, Device& device)
        : problem(problem),
          device(device),
          misalign(problem.about.seed % 8 < 4 ? 0 : static_cast<int>(problem.about.seed % 4)),
          x(device, fk::data_type<T>, layout_of<rank>(problem.about.x_layout, problem.about.x), problem.x, misalign),
          weights(device, fk::data_type<W>, weights_layout(problem.about), weights_of(problem), misalign) {}

    fk::TensorView<T const, rank> input() { return x.template view<T const>(); }

    /// Arguments of the operator at `position`, not counting the Conv.
    template <class Op>
    typename Op::Args of(int position) {
        return make(static_cast<Op*>(nullptr), problem.steps[static_cast<std::size_t>(position)]);
    }
    template <auto Geometry>
    typename fk::Conv<Geometry>::Args conv() {
        using Args = typename fk::Conv<Geometry>::Args;
        if constexpr (requires(Args args) { args.filter; }) return Args{weights.any(), problem.about.filter()};
        else return Args{weights.any()};
    }

private:
    Problem const& problem;
    Device& device;
    int misalign;
    Placed<Device, rank> x, weights;
    std::list<Placed<Device, 1>> vectors;  // lists, because views into them must remain valid
    std::list<Placed<Device, rank - 1>> maps;
    std::list<Placed<Device, rank>> tensors;

    static fk::Layout<rank> weights_layout(Case const& about) {
        oracle::Window const& f = about.window;
        return layout_of<rank>(about.w_layout, {about.k, about.x.c / f.groups, f.r, f.s, f.t});
    }
    static std::vector<double> weights_of(Problem const& problem) {
        auto const size = static_cast<std::size_t>(weights_layout(problem.about).size());
        return problem.weights.empty() ? std::vector<double>(size) : problem.weights;
    }

    Placed<Device, 1>& vector(fk::DataType type, std::vector<double> const& values) {
        return vectors.emplace_back(device, type, fk::channels(static_cast<std::int64_t>(values.size())), values,
                                    misalign);
    }
    fk::TensorView<float const, 1> floats(std::vector<double> const& values) {
        return vector(fk::DataType::float32, values).template view<float const>();
    }
    fk::TensorView<float const, rank - 1> map(std::vector<double> const& values) {
        return maps.emplace_back(device, fk::DataType::float32, map_layout<Space>(problem.about), values, misalign)
            .template view<float const>();
    }

    fk::Bias::Args make(fk::Bias*, Step const& step) { return {vector(problem.about.parameters, step.values).any()}; }
    auto make(fk::BatchNormInference<fk::Spatial>*, Step const& step) -> fk::BatchNormInference<fk::Spatial>::Args {
        oracle::Statistics const& s = step.statistics;
        return {floats(s.mean), floats(s.variance), floats(s.scale), floats(s.shift), static_cast<float>(s.epsilon)};
    }
    auto make(fk::BatchNormInference<fk::PerActivation>*, Step const& step)
        -> fk::BatchNormInference<fk::PerActivation>::Args {
        oracle::Statistics const& s = step.statistics;
        return {map(s.mean), map(s.variance), map(s.scale), map(s.shift), static_cast<float>(s.epsilon)};
    }
    auto make(fk::BatchNormTraining<fk::Spatial>*, Step const& step) -> fk::BatchNormTraining<fk::Spatial>::Args {
        oracle::Statistics const& s = step.statistics;
        return {.scale = floats(s.scale), .shift = floats(s.shift), .epsilon = static_cast<float>(s.epsilon)};
    }
    auto make(fk::BatchNormTraining<fk::PerActivation>*, Step const& step)
        -> fk::BatchNormTraining<fk::PerActivation>::Args {
        oracle::Statistics const& s = step.statistics;
        return {.scale = map(s.scale), .shift = map(s.shift), .epsilon = static_cast<float>(s.epsilon)};
    }
    fk::Residual::Args make(fk::Residual*, Step const& step) {
        Case const& about = problem.about;
        auto const& layout = about.seed % 3 == 0 ? about.x_layout : about.y_layout;
        auto& z =
            tensors.emplace_back(device, about.parameters, layout_of<rank>(layout, about.y()), step.values, misalign);
        return {z.any(), static_cast<float>(step.factor)};
    }
    fk::Requantize::Args make(fk::Requantize*, Step const& step) {
        return {floats(step.values), static_cast<float>(step.factor)};
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

/// Runs into a y with elements of type Y.
template <class Y, class T, class BoundPlan, class Device, int Space, class W>
std::string run_bound(BoundPlan const& bound, Arguments<T, Device, Space, W>& arguments, Problem const& problem,
                      oracle::Tensor const& expected, Device& device) {
    Case const& about = problem.about;
    Placed<Device, Space + 2> y(device, fk::data_type<Y>, layout_of<Space + 2>(about.y_layout, about.y()), 64,
                                static_cast<int>(about.seed / 8 % 2));
    bound(device, arguments.input(), y.template view<Y>());
    return difference(expected, y.fetch());
}

namespace detail {

/// Plan<Ops...>::bind with `first...`, the arguments of a Conv or none, and then the epilogue's.
template <class Plan, class... Epilogue, class T, class Device, int Space, class W>
auto bind(Arguments<T, Device, Space, W>& arguments, auto const&... first) {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
        return Plan::bind(first..., arguments.template of<Epilogue>(I)...);
    }(std::make_integer_sequence<int, sizeof...(Epilogue)>{});
}

}  // namespace detail

/// Runs Plan<Conv<Geometry>, Ops...>, or Plan<Ops...>, on the numbers of a problem.
template <class Device, class T, auto Geometry, class... Ops>
std::string run_conv(Problem const& problem, oracle::Tensor const& expected, Device& device) {
    Arguments<XOf<T>, Device, fk::Conv<Geometry>::space, WOf<T>> arguments(problem, device);
    auto const bound =
        detail::bind<fk::Plan<ConvOf<T, Geometry>, Ops...>, Ops...>(arguments, arguments.template conv<Geometry>());
    return run_bound<YOf<T>>(bound, arguments, problem, expected, device);
}

/// Runs Plan<Before..., Conv<Geometry>, After...>; Before is the prologue.
template <class... Before>
struct WithPrologue {
    template <class Device, class T, auto Geometry, class... After>
    static std::string run(Problem const& problem, oracle::Tensor const& expected, Device& device) {
        constexpr int before = sizeof...(Before);
        Arguments<XOf<T>, Device, fk::Conv<Geometry>::space, WOf<T>> arguments(problem, device);
        auto const bound = [&]<int... B, int... A>(std::integer_sequence<int, B...>, std::integer_sequence<int, A...>) {
            return fk::Plan<Before..., ConvOf<T, Geometry>, After...>::bind(
                arguments.template of<Before>(B)..., arguments.template conv<Geometry>(),
                arguments.template of<After>(before + A)...);
        }(std::make_integer_sequence<int, before>{}, std::make_integer_sequence<int, sizeof...(After)>{});
        return run_bound<YOf<T>>(bound, arguments, problem, expected, device);
    }
};

/// Runs a pointwise plan on signals, images or volumes.
template <int Space, class Device, class T, class... Ops>
std::string run_pointwise_of(Problem const& problem, oracle::Tensor const& expected, Device& device) {
    Arguments<XOf<T>, Device, Space> arguments(problem, device);
    return run_bound<YOf<T>>(detail::bind<fk::Plan<Ops...>, Ops...>(arguments), arguments, problem, expected, device);
}
template <class Device, class T, class... Ops>
std::string run_pointwise(Problem const& problem, oracle::Tensor const& expected, Device& device) {
    return run_pointwise_of<2, Device, T, Ops...>(problem, expected, device);
}

}  // namespace test
