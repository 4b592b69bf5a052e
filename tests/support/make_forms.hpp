// SPDX-License-Identifier: MIT
#pragma once

#include "support/forms.hpp"
#include "support/letters.hpp"

namespace test {

/// A device with `every_schedule` compiles the kernels of all schedules for each convolution: it has fewer of them,
/// which have all operators.
template <class Device, class T>
std::vector<Form<Device>> Forms<Device, T>::convs() {
    using namespace letters;
    if constexpr (requires { Device::every_schedule; })
        return {
            {"C", "", run_conv<Device, T, fk::dynamic>},
            {"CM", "", run_conv<Device, T, fk::dynamic, M>},
            {"CBA", "relu", run_conv<Device, T, fk::dynamic, B, A<fk::Relu>>},
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
        };
}

template <class Device, class T>
std::vector<Form<Device>> Forms<Device, T>::more_convs() {
    using namespace letters;
    std::vector<Form<Device>> forms{{"CNA", "clippedrelu", run_conv<Device, T, fk::dynamic, N, A<fk::ClippedRelu>>}};
    if constexpr (!requires { Device::every_schedule; }) {
        forms.push_back({"CBN", "", run_conv<Device, T, fk::dynamic, B, N>});
        forms.push_back({"CBNA", "relu", run_conv<Device, T, fk::dynamic, B, N, A<fk::Relu>>});
    }
    forms.push_back({"CBRA", "relu", run_conv<Device, T, fk::dynamic, B, R, A<fk::Relu>>});
    forms.push_back({"CSBAR", "abs", run_conv<Device, T, fk::dynamic, S, B, A<fk::Abs>, R>});
    return forms;
}

template <class Device, class T>
std::vector<Form<Device>> Forms<Device, T>::pointwise() {
    using namespace letters;
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

/// None for int8.
template <class Device, class T>
std::vector<Form<Device>> Forms<Device, T>::with_prologues() {
    using namespace letters;
    if constexpr (std::is_same_v<T, fk::int8>) return {};
    else
        return {{"BC", "", WithPrologue<B>::template run<Device, T, fk::dynamic>},
                {"NACBA", "relu", WithPrologue<N, A<fk::Relu>>::template run<Device, T, fk::dynamic, B, A<fk::Relu>>}};
}

}  // namespace test
