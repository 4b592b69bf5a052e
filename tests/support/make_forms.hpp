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

/// Forms of plans on int8.
template <class Device, class T>
std::vector<Form<Device>> const& quantized_forms() {
    static std::vector<Form<Device>> const all = {
        {"CQ", "", run_conv<Device, T, fk::dynamic, Q>},
        {"CBQ", "", run_conv<Device, T, fk::dynamic, B, Q>},
        {"CBAQ", "relu", run_conv<Device, T, fk::dynamic, B, A<fk::Relu>, Q>},
        {"CQRA", "clippedrelu", run_conv<Device, T, fk::dynamic, Q, R, A<fk::ClippedRelu>>},
        {"Q", "", run_pointwise<Device, T, Q>},
        {"QA", "relu", run_pointwise<Device, T, Q, A<fk::Relu>>},
        {"RMQ", "", run_pointwise<Device, T, R, M, Q>},
        {"NAQ", "leakyrelu", run_pointwise<Device, T, N, A<fk::LeakyRelu>, Q>},
    };
    return all;
}

}  // namespace detail

template <class Device, class T>
std::vector<Form<Device>> const& forms() {
    using namespace detail;
    static std::vector<Form<Device>> const all = with_prologues<Device, T>({
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
        {"N", "", run_pointwise<Device, T, N>},
        {"M", "", run_pointwise<Device, T, M>},
        {"A", "tanh", run_pointwise<Device, T, A<fk::Tanh>>},
        {"S", "", run_pointwise<Device, T, S>},
        {"NA", "relu", run_pointwise<Device, T, N, A<fk::Relu>>},
        {"MA", "leakyrelu", run_pointwise<Device, T, M, A<fk::LeakyRelu>>},
        {"BA", "clamp", run_pointwise<Device, T, B, A<fk::Clamp>>},
        {"RBNAS", "gelu", run_pointwise<Device, T, R, B, N, A<fk::Gelu>, S>},
    });
    return all;
}

}  // namespace test
