// SPDX-License-Identifier: MIT
#pragma once

#include "support/oracle_training.hpp"
#include "support/run_case.hpp"

namespace test {

/// Tensor of one statistic of a problem's batch norm (a mean, variance or gradient): an input or an output.
template <class Norm, class Device, int Space>
class Statistic {
    static constexpr int rank = Norm::per_pixel ? Space + 1 : 1;

public:
    /// Output.
    Statistic(Problem const& problem, Device& device)
        : placed(device, fk::DataType::float32, layout(problem), 16, static_cast<int>(problem.about.seed % 2)) {}
    /// Input, or running statistic.
    Statistic(Problem const& problem, Device& device, std::vector<double> const& values)
        : placed(device, fk::DataType::float32, layout(problem), values) {}

    fk::OptionalView<float, Norm::rank> view() {
        return fk::detail::collapse<Norm::rank>(placed.template view<float>());
    }
    /// Difference from `expected`, preceded by its name; empty if none.
    std::string compare(char const* name, oracle::Tensor const& expected) {
        std::string const text = difference(expected, placed.fetch());
        return text.empty() ? "" : std::string(name) + ": " + text;
    }

private:
    Placed<Device, rank> placed;

    static fk::Layout<rank> layout(Problem const& problem) {
        if constexpr (Norm::per_pixel) return map_layout<Space>(problem.about);
        else return fk::channels(problem.about.y().c);
    }
};

inline constexpr float training_momentum = 0.25f;

/// Runs Plan<Norm, Rest...> in training on the numbers of a problem, with all optional outputs; returns the difference.
template <class Device, class T, int Space, class Norm, class... Rest>
std::string run_training(Problem const& problem, oracle::Tensor const& expected, Device& device) {
    oracle::Statistics const& s = problem.steps[0].statistics;
    Arguments<XOf<T>, Device, Space> arguments(problem, device);
    Statistic<Norm, Device, Space> mean(problem, device), inverse(problem, device),
        running_mean(problem, device, s.mean), running_variance(problem, device, s.variance);
    auto const batch = oracle::batch_statistics({problem.about.x, problem.x}, Norm::per_pixel, !problem.about.real);
    typename Norm::Args args = arguments.template of<Norm>(0);
    args.saved_mean = mean.view(), args.saved_inverse_deviation = inverse.view();
    args.momentum = training_momentum;
    bool const runs = batch.count > 1;
    if (runs) args.running_mean = running_mean.view(), args.running_variance = running_variance.view();
    auto const bound = [&]<int... I>(std::integer_sequence<int, I...>) {
        return fk::detail::FusedPlan<Norm, Rest...>::bind(args, arguments.template of<Rest>(I + 1)...);
    }(std::make_integer_sequence<int, sizeof...(Rest)>{});

    std::string wrong = run_bound<YOf<T>>(bound, arguments, problem, expected, device);
    wrong += mean.compare("saved_mean", batch.mean);
    wrong += inverse.compare("saved_inverse_deviation", oracle::inverse_deviations(batch, s.epsilon));
    if (!runs) return wrong;
    Bounded const unbiased = Bounded{batch.count} / Bounded{batch.count - 1};
    wrong += running_mean.compare("running_mean", batch.mean.each([&](Bounded v, std::size_t g) {
        return oracle::moved(s.mean[g], v, training_momentum);
    }));
    wrong += running_variance.compare("running_variance", batch.variance.each([&](Bounded v, std::size_t g) {
        return oracle::moved(s.variance[g], v * unbiased, training_momentum);
    }));
    return wrong;
}

/// Runs Backward<Plan<Norm, Activation>> on the numbers of a problem, its dy, and x's statistics.
template <class Device, class T, int Space, class Norm, class... Rest>
std::string run_training_backward(Problem const& problem, Device& device) {
    static_assert(sizeof...(Rest) <= 1, "the oracle has batch norm and one activation");
    using Plan = fk::detail::FusedPlan<Norm, Rest...>;
    Case const& about = problem.about;
    oracle::Statistics const& s = problem.steps[0].statistics;
    oracle::Tensor const x(about.x, problem.x);
    auto const batch = oracle::batch_statistics(x, Norm::per_pixel, true);
    oracle::Saved saved;
    Format const floats = format_of(fk::DataType::float32);
    for (Bounded v : batch.mean.at) saved.mean.push_back(floats.round(v.value));
    for (Bounded v : oracle::inverse_deviations(batch, s.epsilon).at)
        saved.inverse_deviation.push_back(floats.round(v.value));
    oracle::Mode const mode = sizeof...(Rest) ? problem.steps.back().mode : oracle::Mode{"passthru"};
    auto const expected = oracle::training_gradients(x, problem.dy, mode, s, saved, Norm::per_pixel);

    Arguments<XOf<T>, Device, Space> arguments(problem, device);
    Statistic<Norm, Device, Space> mean(problem, device, saved.mean), inverse(problem, device, saved.inverse_deviation),
        scale(problem, device), shift(problem, device);
    typename Norm::Args args = arguments.template of<Norm>(0);
    args.saved_mean = mean.view(), args.saved_inverse_deviation = inverse.view();
    auto const layer = Plan::bind(args, arguments.template of<Rest>(1)...);
    typename Norm::Gradients const gradients{scale.view(), shift.view()};
    auto const bound = fk::Backward<Plan>::bind(layer, arguments.input(), gradients,
                                                typename fk::detail::GradientsOf<Rest>::Type{}...);

    auto const layout = layout_of<Space + 2>(about.y_layout, about.y());
    Placed<Device, Space + 2> dy(device, fk::data_type<XOf<T>>, layout, problem.dy),
        dx(device, fk::data_type<YOf<T>>, layout, 64, static_cast<int>(about.seed % 2));
    bound(device, dy.template view<XOf<T> const>(), dx.template view<YOf<T>>());
    return difference(expected.dx, dx.fetch()) + scale.compare("dscale", expected.scale) +
           shift.compare("dshift", expected.shift);
}

}  // namespace test
