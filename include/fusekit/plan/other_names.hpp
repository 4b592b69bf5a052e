// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/activation.hpp"

/// Names of operators in other libraries, declared so that their use is an error that prints fusekit's name.
namespace fusekit {

namespace detail {

enum class OtherName { batch_norm, conv, transposed_conv, max_pool, average_pool };

}  // namespace detail

using ReLU __attribute__((unavailable("write fk::Relu"))) = Relu;
using Relu6 __attribute__((unavailable("write fk::ClippedRelu, whose alpha is 6 unless given"))) = ClippedRelu;
using ReLU6 __attribute__((unavailable("write fk::ClippedRelu, whose alpha is 6 unless given"))) = ClippedRelu;
using LeakyReLU __attribute__((unavailable("write fk::LeakyRelu"))) = LeakyRelu;
using PReLU
    __attribute__((unavailable("write fk::LeakyRelu for one slope; slopes per channel are an operator of your own"))) =
        LeakyRelu;
using ELU __attribute__((unavailable("write fk::Elu"))) = Elu;
using GELU __attribute__((unavailable("write fk::Gelu, or fk::GeluTanh for its approximation by tanh"))) = Gelu;
using SiLU __attribute__((unavailable("write fk::Silu"))) = Silu;
using Swish __attribute__((unavailable("write fk::Silu"))) = Silu;
using Sigmoid __attribute__((unavailable("write fk::Logistic"))) = Logistic;
using Softplus __attribute__((unavailable("write fk::SoftRelu"))) = SoftRelu;
using Hardswish __attribute__((unavailable("write fk::HardSwish"))) = HardSwish;
using Hardsigmoid __attribute__((unavailable("write fk::HardSigmoid"))) = HardSigmoid;
using Hardtanh __attribute__((unavailable("write fk::Clamp, with alpha = -1 and beta = 1"))) = Clamp;

using Linear __attribute__((unavailable("write fk::Gemm, fk::Bias"))) = Activation<Passthru>;
using BatchNorm2d
    __attribute__((unavailable("write fk::BatchNormInference<fk::Spatial> or fk::BatchNormTraining<fk::Spatial>"))) =
        Activation<Passthru>;

/// Names that are class templates in other libraries; is_operator() prints the messages with fusekit's names.
template <class... Mode>
struct BatchNorm {
    static constexpr auto other_name = detail::OtherName::batch_norm;
};
template <auto... Geometry>
struct Conv2d {
    static constexpr auto other_name = detail::OtherName::conv;
};
template <auto... Geometry>
struct ConvTranspose2d {
    static constexpr auto other_name = detail::OtherName::transposed_conv;
};
template <auto... Window>
struct MaxPool2d {
    static constexpr auto other_name = detail::OtherName::max_pool;
};
template <auto... Window>
struct AvgPool2d {
    static constexpr auto other_name = detail::OtherName::average_pool;
};

}  // namespace fusekit
