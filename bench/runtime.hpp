// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/runtime/c/fusekit.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include <fusekit/runtime/ready_made.hpp>

#include "support/machine.hpp"
#include "support/options.hpp"
#include "support/records.hpp"
#include "support/timing.hpp"

/// Cost of selecting plans at run time: lookup; a run through a handle and through the C interface, against
/// layer(device, x, y); and the selection of an activation, against a plan with a fixed one. One program for each
/// backend.
namespace bench {

namespace fk = fusekit;
namespace rt = fk::runtime;

inline fusekit_tensor c_view(rt::View const& view) {
    fusekit_tensor result{view.data, static_cast<fusekit_type>(view.type), view.rank, {}, {}};
    for (int mode = 0; mode < 5; ++mode)
        result.extents[mode] = view.extents[mode], result.strides[mode] = view.strides[mode];
    return result;
}
inline void require(fusekit_status status) {
    if (status != FUSEKIT_SUCCESS) throw std::runtime_error(fusekit_last_message());
}
inline void require(fk::Refusal const& refusal) {
    if (refusal) throw std::runtime_error(refusal->what());
}

/// Nanoseconds per call of each subject: medians over interleaved rounds of `calls` calls. `wait` drains the device
/// after each.
template <class Wait, class... Calls>
std::array<double, sizeof...(Calls)> costs_of(Wait const& wait, int rounds, int calls, Calls const&... each) {
    std::array<std::vector<double>, sizeof...(Calls)> samples;
    auto const take = [&](int round, std::vector<double>& of_one, auto const& call) {
        double const begin = seconds_now();
        for (int i = 0; i < calls; ++i) call();
        double const taken = seconds_now() - begin;
        wait();
        if (round >= 0) of_one.push_back(1e9 * taken / calls);
    };
    for (int round = -3; round < rounds; ++round) {
        std::size_t number = 0;
        (take(round, samples[number++], each), ...);
    }
    std::array<double, sizeof...(Calls)> medians;
    std::transform(samples.begin(), samples.end(), medians.begin(), [](auto const& all) { return median(all); });
    return medians;
}

/// Microseconds of a kernel: calls between two waits.
template <class Device, class Call>
Subject until_done(Device& device, Call const& call) {
    return [&device, call](std::int64_t) {
        for (int i = 0; i < 8; ++i) call();
        device.synchronize();
    };
}

template <class Device, class Set>
int measure_runtime(int argc, char** argv, char const* name, fusekit_backend backend, Device& device,
                    fusekit_device c_device, Fields facts, int repeats, std::string const& output) {
    using Relu = fk::Activation<fk::Relu>;
    using Found = rt::ready_made::ConvBiasActivation;
    facts.push_back({"date", today()});
    facts.push_back({"command", command_text(argc, argv)});
    Records records(facts);
    for (auto const& [fact, value] : facts) std::printf("%s: %s\n", fact.c_str(), value.c_str());
    auto const report = [&](std::string const& what, double value, char const* unit, double bar = 0) {
        std::printf("%-58s %10.1f %s", what.c_str(), value, unit);
        if (bar > 0) std::printf("   bar %.0f: %s", bar, value <= bar ? "PASS" : "FALLS SHORT");
        std::printf("\n");
        records.add({{"what", what}, {"value", text("%.1f", value)}, {"unit", unit}});
    };

    auto const wait = [&] {  // the C interface's device has a separate stream
        device.synchronize();
        require(fusekit_device_synchronize(c_device));
    };
    rt::Descriptor const sequence[] = {rt::conv(fk::filter(3, 3).pad(1)), rt::bias(),
                                       rt::activation(rt::ActivationMode::relu)};
    rt::Descriptor volatile const* const hidden = sequence;  // prevents lookup at compile time
    report("find: three operators",
           costs_of(wait, repeats, 1000,
                    [&] {
                        auto const found =
                            Set::find_or_none({const_cast<rt::Descriptor const*>(hidden), 3}, fk::DataType::float32);
                        if (!found) std::printf("none\n");
                    })[0],
           "ns", 500);

    {  // a call, on a tiny problem
        auto const x = fk::random<float>(device, fk::nchw(1, 16, 8, 8)),
                   w = fk::random<float>(device, fk::kcrs(16, 16, 3, 3), 2);
        auto const b = fk::random<float>(device, fk::channels(16), 3);
        fk::Tensor<float, Device> y(device, x.layout());
        auto const layer =
            Found::bind({w, fk::filter(3, 3).pad(1)}, rt::Optional<fk::Bias>::given(fk::Bias::Args{.bias = b}),
                        {rt::ActivationMode::relu});
        auto const handle = Set::find(sequence, fk::DataType::float32).value();
        rt::Arguments arguments[3];
        arguments[0][rt::Role::weights] = rt::View(w);
        arguments[1][rt::Role::bias] = rt::View(b);
        rt::View const from(x), to(y);
        rt::Run<Device> run;
        require(handle.prepare(device, arguments, from, to, run));

        fusekit_operator operators[3] = {{FUSEKIT_CONV, 0, FUSEKIT_FILTER(3, 3, 1, 1)},
                                         {FUSEKIT_BIAS, 0, {}},
                                         {FUSEKIT_ACTIVATION, FUSEKIT_RELU, {}}};
        fusekit_types const types{};
        fusekit_arguments own[3];
        for (auto& each : own) require(fusekit_arguments_init(&each));
        own[0].tensors[FUSEKIT_WEIGHTS] = c_view(arguments[0][rt::Role::weights]);
        own[1].tensors[FUSEKIT_BIASES] = c_view(arguments[1][rt::Role::bias]);
        fusekit_tensor const c_x = c_view(from), c_y = c_view(to);
        fusekit_plan plan;
        fusekit_run c_run;
        require(fusekit_find(backend, operators, 3, &types, &plan));
        require(fusekit_prepare(plan, c_device, own, 3, &c_x, &c_y, 16, &c_run));

        int const calls = 100;
        auto const [direct, prepared, through_handle, through_c, run_through_c] = costs_of(
            wait, repeats, calls, [&] { layer(device, x, y); }, [&] { require(run->run(device, x.data(), y.data())); },
            [&] { require(handle.run(device, arguments, from, to)); },
            [&] { require(fusekit_execute(plan, c_device, FUSEKIT_OWN_STREAM, own, 3, &c_x, &c_y, nullptr, 0)); },
            [&] { require(fusekit_run_execute(c_run, c_device, FUSEKIT_OWN_STREAM, c_x.data, c_y.data, nullptr, 0)); });
        report("call: layer(device, x, y)", direct, "ns");
        report("call: handle.run, new arguments", through_handle, "ns");
        report("call: a prepared run", prepared, "ns");
        report("call: fusekit_execute, new arguments", through_c, "ns");
        report("call: fusekit_run_execute", run_through_c, "ns");
        report("fusekit_execute over layer(device, x, y)", through_c - direct, "ns", 1000);
        report("fusekit_run_execute over layer(device, x, y)", run_through_c - direct, "ns", 1000);
        require(fusekit_run_destroy(c_run));
        require(fusekit_plan_destroy(plan));
    }

    {  // an activation selected at run time, against a fixed one
        auto const x = fk::random<float>(device, fk::nchw(8, 64, 56, 56)),
                   w = fk::random<float>(device, fk::kcrs(64, 64, 3, 3), 2),
                   point = fk::random<float>(device, fk::kcrs(64, 64, 1, 1), 4);
        auto const b = fk::random<float>(device, fk::channels(64), 3);
        fk::Tensor<float, Device> y(device, x.layout());
        Sampling const sampling{.repeats = repeats == 1 ? 1 : std::max(3, repeats / 4),  // 1: a test
                                .sample_seconds = repeats == 1 ? 0 : 0.05};
        auto const compare = [&](std::string const& what, auto const& one, auto const& any) {
            auto const times = interleaved_medians(
                {until_done(device, [&] { one(device, x, y); }), until_done(device, [&] { any(device, x, y); })},
                sampling);
            report(what + ": a plan of Relu", 1e6 * times[0] / 8, "us");
            report(what + ": Relu, chosen at run time", 1e6 * times[1] / 8, "us");
        };
        rt::PiecewiseActivation::Args const piecewise{rt::ActivationMode::relu};
        rt::AnyActivation::Args const any{rt::ActivationMode::relu};
        compare("8-64-56-56, activation alone, 18 modes", fk::Plan<Relu>::bind({}),
                fk::Plan<rt::AnyActivation>::bind(any));
        compare("8-64-56-56-64-1x1, conv and bias, 6 modes",
                fk::Plan<fk::Conv<fk::dynamic>, fk::Bias, Relu>::bind({point, fk::filter(1, 1)}, {b}, {}),
                fk::Plan<fk::Conv<fk::dynamic>, fk::Bias, rt::PiecewiseActivation>::bind({point, fk::filter(1, 1)}, {b},
                                                                                         piecewise));
        compare("8-64-56-56-64-3x3, conv and bias, 6 modes",
                fk::Plan<fk::Conv<fk::dynamic>, fk::Bias, Relu>::bind({w, fk::filter(3, 3).pad(1)}, {b}, {}),
                fk::Plan<fk::Conv<fk::dynamic>, fk::Bias, rt::PiecewiseActivation>::bind({w, fk::filter(3, 3).pad(1)},
                                                                                         {b}, piecewise));
        compare("8-64-56-56-64-3x3, a filter known at run time",
                fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, Relu>::bind({w}, {b}, {}),
                fk::Plan<fk::Conv<fk::dynamic>, fk::Bias, Relu>::bind({w, fk::filter(3, 3).pad(1)}, {b}, {}));
    }
    records.write(output, name);
    return 0;
}

}  // namespace bench
