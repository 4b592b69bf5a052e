// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/fusekit.hpp>
#include <fusekit/layer.hpp>
#include <fusekit/runtime.hpp>

/// Every public object that one unit makes and another uses. Each unit has its own compiler flags.
namespace abi {

namespace fk = fusekit;
using fk::host::Device;

using Conv = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Activation<fk::Relu>>;
using Curve = fk::Plan<fk::Scale, fk::Activation<fk::Logistic>>;
using Norm = fk::Plan<fk::BatchNormTraining<fk::Spatial>, fk::Activation<fk::Relu>>;
using Set = fk::runtime::PlanSet<Device, Conv, fk::runtime::Form<Curve, fk::half>>;

using Images = fk::Tensor<float, Device>;
using Halves = fk::Tensor<fk::half, Device>;
using Channels = fk::Tensor<float, Device, 1>;
using View = fk::TensorView<float, 4>;
using Bound = decltype(Conv::bind({.weights = std::declval<Images&>()}, {.bias = std::declval<Channels&>()}, {}));
using Run = decltype(std::declval<Bound&>().prepare<float>(std::declval<Device&>(), fk::nchw(1, 1, 1, 1),
                                                           fk::nchw(1, 1, 1, 1)));

/// Operands of a convolution: x of integers, weights and bias. Odd extents, so that vectors have a tail.
struct Operands {
    Images x, weights;
    Channels bias;
};

/// Interface of a unit to the program. A member is null if the unit is built without it.
struct Unit {
    char const* flags;
    bool throws;  ///< compiled with exceptions
    Operands (*make)(Device&, bool channels_last);
    void (*run)(Device&, Operands const&, Images& y);
    Bound (*bind)(Operands const&);
    void (*run_bound)(Bound const&, Device&, Operands const&, Images& y);
    Run (*prepare)(Device&, Operands const&, Images const& y);
    void (*run_prepared)(Run const&, Device&, Operands const&, Images& y);
    fk::Layer<float, Device> (*layer)(Operands const&);
    void (*run_layer)(fk::Layer<float, Device> const&, Device&, Operands const&, Images& y);
    void (*run_view)(Device&, fk::TensorView<float const, 4>, Operands const&, View y);
    fk::runtime::Handle<Device> (*handle)();
    void (*run_handle)(fk::runtime::Handle<Device> const&, Device&, Operands const&, Images& y);
    fk::Description<3> (*describe)(Operands const&);
    fk::Text (*second_step)(fk::Description<3> const&);
    void (*curve)(Device&, Halves const& x, Halves& y);
    void (*norm)(Device&, Images const& x, Channels const& one, Channels const& zero, Channels& mean, Images& y);
    void (*refuse)(Device&, Operands const&);  ///< throws, or aborts without exceptions
    bool (*catches)(void (*throws)(Device&, Operands const&), Device&, Operands const&);
    fk::Refusal (*refusal)(Device&, Operands const&);
    Device* (*device)(int threads);
};

}  // namespace abi
