// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "support/run_case.hpp"

namespace test {

/// Every plan that a case can name, for one element type; each type is a translation unit of its own.
template <class T>
std::vector<Form> const& forms();

template <>
std::vector<Form> const& forms<float>();
template <>
std::vector<Form> const& forms<fk::half>();
template <>
std::vector<Form> const& forms<fk::bfloat16>();

namespace detail {

using B = fk::Bias;
using N = fk::BatchNormInference<fk::Spatial>;
using M = fk::BatchNormInference<fk::PerActivation>;
using R = fk::Residual;
using S = fk::Scale;
template <class Mode>
using A = fk::Activation<Mode>;

template <class T>
std::vector<Form> make_forms() {
    return {
        {"C", "", run_conv<T, fk::dynamic>},
        {"CB", "", run_conv<T, fk::dynamic, B>},
        {"CA", "leakyrelu", run_conv<T, fk::dynamic, A<fk::LeakyRelu>>},
        {"CN", "", run_conv<T, fk::dynamic, N>},
        {"CM", "", run_conv<T, fk::dynamic, M>},
        {"CBA", "relu", run_conv<T, fk::dynamic, B, A<fk::Relu>>},
        {"CBA", "silu", run_conv<T, fk::dynamic, B, A<fk::Silu>>},
        {"CNA", "clippedrelu", run_conv<T, fk::dynamic, N, A<fk::ClippedRelu>>},
        {"CBN", "", run_conv<T, fk::dynamic, B, N>},
        {"CBNA", "relu", run_conv<T, fk::dynamic, B, N, A<fk::Relu>>},
        {"CBRA", "relu", run_conv<T, fk::dynamic, B, R, A<fk::Relu>>},
        {"CSBAR", "abs", run_conv<T, fk::dynamic, S, B, A<fk::Abs>, R>},
        {"N", "", run_pointwise<T, N>},
        {"M", "", run_pointwise<T, M>},
        {"A", "tanh", run_pointwise<T, A<fk::Tanh>>},
        {"NA", "relu", run_pointwise<T, N, A<fk::Relu>>},
        {"MA", "leakyrelu", run_pointwise<T, M, A<fk::LeakyRelu>>},
        {"BA", "clamp", run_pointwise<T, B, A<fk::Clamp>>},
        {"RBNAS", "gelu", run_pointwise<T, R, B, N, A<fk::Gelu>, S>},
    };
}

}  // namespace detail

}  // namespace test
