// SPDX-License-Identifier: MIT
#pragma once

#include "support/forms.hpp"
#include "support/letters.hpp"

namespace test {

namespace detail {

using namespace letters;

/// Adds the forms with a prologue, except for int8.
template <class Device, class T>
std::vector<Form<Device>> with_prologues(std::vector<Form<Device>> forms) {
    if constexpr (!std::is_same_v<T, fk::int8>) {
        forms.push_back({"BC", "", WithPrologue<B>::template run<Device, T, fk::dynamic>});
        forms.push_back(
            {"NACBA", "relu", WithPrologue<N, A<fk::Relu>>::template run<Device, T, fk::dynamic, B, A<fk::Relu>>});
    }
    return forms;
}

/// Forms of convolutions. A device with `every_schedule` compiles the kernels of all schedules for each: it has fewer
/// forms, which have all operators.
template <class Device, class T>
std::vector<Form<Device>> conv_forms() {
    if constexpr (requires { Device::every_schedule; })
        return {
            {"C", "", run_conv<Device, T, fk::dynamic>},
            {"CM", "", run_conv<Device, T, fk::dynamic, M>},
            {"CBA", "relu", run_conv<Device, T, fk::dynamic, B, A<fk::Relu>>},
            {"CNA", "clippedrelu", run_conv<Device, T, fk::dynamic, N, A<fk::ClippedRelu>>},
            {"CBRA", "relu", run_conv<Device, T, fk::dynamic, B, R, A<fk::Relu>>},
            {"CSBAR", "abs", run_conv<Device, T, fk::dynamic, S, B, A<fk::Abs>, R>},
        };
    else
        return {
            {"C", "", run_conv<Device, T, fk::dynamic>},
            {"CB", "", run_conv<Device, T, fk::dynamic, B>},
            {"CA", "leakyrelu", run_conv<Device, T, fk::dynamic, A<fk::LeakyRelu>>},
            {"CN", "", run_conv<Device, T, fk::dynamic, N>},
            {"CM", "", run_conv<Device, T, fk::dynamic, M>},
            {"CBA", "relu", run_conv<Device, T, fk::dynamic, B, A<fk::Relu>>},
            {"CBA", "silu", run_conv<Device, T, fk::dynamic, B, A<fk::Silu>>},
            {"CNA", "clippedrelu", run_conv<Device, T, fk::dynamic, N, A<fk::ClippedRelu>>},
            {"CBN", "", run_conv<Device, T, fk::dynamic, B, N>},
            {"CBNA", "relu", run_conv<Device, T, fk::dynamic, B, N, A<fk::Relu>>},
            {"CBRA", "relu", run_conv<Device, T, fk::dynamic, B, R, A<fk::Relu>>},
            {"CSBAR", "abs", run_conv<Device, T, fk::dynamic, S, B, A<fk::Abs>, R>},
        };
}

template <class Device, class T>
std::vector<Form<Device>> pointwise_forms() {
    return {
        {"N", "", run_pointwise<Device, T, N>},
        {"M", "", run_pointwise<Device, T, M>},
        {"A", "tanh", run_pointwise<Device, T, A<fk::Tanh>>},
        {"S", "", run_pointwise<Device, T, S>},
        {"NA", "relu", run_pointwise<Device, T, N, A<fk::Relu>>},
        {"MA", "leakyrelu", run_pointwise<Device, T, M, A<fk::LeakyRelu>>},
        {"BA", "clamp", run_pointwise<Device, T, B, A<fk::Clamp>>},
        {"RBNAS", "gelu", run_pointwise<Device, T, R, B, N, A<fk::Gelu>, S>},
    };
}

}  // namespace detail

template <class Device, class T>
std::vector<Form<Device>> const& forms() {
    static std::vector<Form<Device>> const all = [] {
        std::vector<Form<Device>> list = detail::conv_forms<Device, T>();
        for (Form<Device> const& form : detail::pointwise_forms<Device, T>()) list.push_back(form);
        return detail::with_prologues<Device, T>(list);
    }();
    return all;
}

}  // namespace test
