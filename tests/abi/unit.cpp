// SPDX-License-Identifier: MIT
#include "unit.hpp"

namespace {

using namespace abi;

fk::TensorView<float const, 4> wrong_filters(Operands const& of) {
    return fk::TensorView(of.weights.data(), fk::nchw(5, 1, 3, 3));
}

constexpr Unit table() {
    return {
        .flags = FUSEKIT_TEXT(FUSEKIT_FLAGS),
#if defined(__cpp_exceptions)
        .throws = true,
#else
        .throws = false,
#endif
        .make = [](Device& device, bool last) -> Operands {
            Operands of{{device, last ? fk::nhwc(2, 9, 7, 19) : fk::nchw(2, 19, 9, 7)},
                        {device, last ? fk::nhwc(21, 3, 3, 19) : fk::nchw(21, 19, 3, 3)},
                        {device, fk::channels(21)}};
            for (std::int64_t i = 0; i < of.x.size(); ++i) of.x.data()[i] = static_cast<float>(i * 7 % 13 - 6);
            for (std::int64_t i = 0; i < of.weights.size(); ++i)
                of.weights.data()[i] = static_cast<float>(i * 5 % 11 - 5);
            for (std::int64_t i = 0; i < of.bias.size(); ++i) of.bias.data()[i] = static_cast<float>(i - 9);
            return of;
        },
        .run = [](Device& device, Operands const& of,
                  Images& y) { Conv::bind({.weights = of.weights}, {.bias = of.bias}, {})(device, of.x, y); },
        .bind = [](Operands const& of) -> Bound { return Conv::bind({.weights = of.weights}, {.bias = of.bias}, {}); },
        .run_bound =
            [](Bound const& bound, Device& device, Operands const& of, Images& y) {
                Bound const copy(bound);
                copy(device, of.x, y);
            },
        .prepare = [](Device& device, Operands const& of, Images const& y) -> Run {
            return Conv::bind({.weights = of.weights}, {.bias = of.bias}, {})
                .prepare<float>(device, of.x.layout(), y.layout());
        },
        .run_prepared = [](Run const& run, Device& device, Operands const& of, Images& y) { run(device, of.x, y); },
        .layer = [](Operands const& of) -> fk::Layer<float, Device> {
            return Conv::bind({.weights = of.weights}, {.bias = of.bias}, {});
        },
        .run_layer =
            [](fk::Layer<float, Device> const& layer, Device& device, Operands const& of, Images& y) {
                fk::Layer<float, Device> const copy(layer);
                copy(device, of.x, y);
            },
        .run_view = [](Device& device, fk::TensorView<float const, 4> x, Operands const& of,
                       View y) { Conv::bind({.weights = of.weights}, {.bias = of.bias}, {})(device, x, y); },
        .handle = []() -> fk::runtime::Handle<Device> {
            return *Set::find({fk::runtime::conv(fk::filter(3, 3).pad(1)), fk::runtime::bias(),
                               fk::runtime::activation(fk::runtime::ActivationMode::relu)},
                              fk::runtime::Types(fk::DataType::float32));
        },
        .run_handle =
            [](fk::runtime::Handle<Device> const& handle, Device& device, Operands const& of, Images& y) {
                fk::runtime::Arguments arguments[3] = {};
                arguments[0][fk::runtime::Role::weights] = of.weights, arguments[1][fk::runtime::Role::bias] = of.bias;
                fk::runtime::Run<Device> run;
                handle.prepare(device, arguments, of.x, y, run).raise();
                run->run(device, of.x.data(), y.data()).raise();
            },
        .describe = [](Operands const& of) -> fk::Description<3> {
            return fk::describe(Conv::bind({.weights = of.weights}, {.bias = of.bias}, {}), of.x);
        },
        .second_step = [](fk::Description<3> const& about) -> fk::Text {
            fk::Description<3> copy(about), other(static_cast<fk::Description<3>&&>(copy));
            copy = other;
            return copy.steps[1].name + copy.plan.c_str();
        },
        .curve = [](Device& device, Halves const& x, Halves& y) { Curve::bind({.factor = 0.5f}, {})(device, x, y); },
        .norm = [](Device& device, Images const& x, Channels const& one, Channels const& zero, Channels& mean,
                   Images& y) { Norm::bind({.scale = one, .shift = zero, .saved_mean = mean}, {})(device, x, y); },
        .refuse =
            [](Device& device, Operands const& of) {
                Images y(device, of.x.layout());
                Conv::bind({.weights = wrong_filters(of)}, {.bias = of.bias}, {})(device, of.x, y);
            },
        .catches = [](void (*throws)(Device&, Operands const&), Device& device, Operands const& of) -> bool {
#if defined(__cpp_exceptions)
            try {
                throws(device, of);
            } catch (fk::Error const& error) {
                fk::Error const copy = error;
                return copy.argument == "weights" && copy.what()[0] == 'P';
            }
#else
            static_cast<void>(throws), static_cast<void>(device), static_cast<void>(of);
#endif
            return false;
        },
        .refusal = [](Device& device, Operands const& of) -> fk::Refusal {
            auto const prepared = Conv::bind({.weights = wrong_filters(of)}, {.bias = of.bias}, {})
                                      .try_prepare<float>(device, of.x.layout(), of.x.layout());
            if (!prepared) return prepared.error();
            return {};
        },
        .device = [](int threads) -> Device* { return new Device(threads); },
    };
}

}  // namespace

extern abi::Unit const unit;
constinit abi::Unit const unit = table();
