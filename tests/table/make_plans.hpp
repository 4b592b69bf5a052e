// SPDX-License-Identifier: MIT
#pragma once

#include "support/catalogue.hpp"
#include "support/letters.hpp"
#include "support/run_training.hpp"
#include "table/plans.hpp"

namespace test::table {

namespace detail {

using namespace letters;

template <auto Run>
std::string with_expected(Problem const& problem, auto& device) {
    return Run(problem, problem.expected(), device);
}

template <auto Run>
std::string with_one_schedule(Problem const& problem, auto& device) {
    auto&& one = DirectAlone<std::remove_reference_t<decltype(device)>>::of(device);
    return Run(problem, problem.expected(), one);
}

template <class Device, class T>
class Plans {
public:
    std::vector<RowPlan<Device>> all;

    /// Compiles the kernels of all schedules.
    template <auto Geometry, class... Ops>
    void chosen_conv(char const* form, char const* mode) {
        all.push_back({Direction::inference, fk::Conv<Geometry>::space, form, mode,
                       with_expected<&run_conv<Device, T, Geometry, Ops...>, Device>});
    }
    /// Compiles one kernel. Schedules share epilogues: support/make_forms.hpp has operators with all of them.
    template <auto Geometry, class... Ops>
    void conv(char const* form, char const* mode = "") {
        using One = typename DirectAlone<Device>::type;
        all.push_back({Direction::inference, fk::Conv<Geometry>::space, form, mode,
                       with_one_schedule<&run_conv<One, T, Geometry, Ops...>, Device>});
    }
    template <class Act, class... Ops>
    void activated_conv(char const* form, char const* mode) {
        if constexpr (std::is_same_v<Act, A<fk::Relu>>) chosen_conv<fk::dynamic, Ops..., Act>(form, mode);
        else conv<fk::dynamic, Ops..., Act>(form, mode);
    }
    template <class... Ops>
    void pointwise(char const* form, char const* mode = "") {
        all.push_back({Direction::inference, 2, form, mode, with_expected<&run_pointwise<Device, T, Ops...>, Device>});
    }
    template <int Space, class... Ops>
    void training(char const* form, char const* mode = "") {
        all.push_back(
            {Direction::training, Space, form, mode, with_expected<&run_training<Device, T, Space, Ops...>, Device>});
    }
    template <int Space, class... Ops>
    void backward(char const* form, char const* mode = "") {
        all.push_back({Direction::backward, Space, form, mode, run_training_backward<Device, T, Space, Ops...>});
    }
};

/// Calls f.operator()<Activation>(mode name) for every activation whose number is `Remainder` modulo `Modulus`.
template <int Remainder = 0, int Modulus = 1, class F>
void for_each_activation(F const& f) {
    [&]<int... Number>(std::integer_sequence<int, Number...>) {
        auto const call = [&]<int N>() {
            if constexpr (N % Modulus == Remainder)
                [&]<class Mode>(catalogue::Line<Mode> const& line) {
                    f.template operator()<A<Mode>>(line.name);
                }(catalogue::line<N>);
        };
        (call.template operator()<Number>(), ...);
    }(std::make_integer_sequence<int, catalogue::modes>{});
}

}  // namespace detail

template <class Device, class T, int Part>
std::vector<RowPlan<Device>> plans_of() {
    using namespace detail;
    Plans<Device, T> p;
    using Relu = A<fk::Relu>;
    constexpr bool narrow = !std::is_same_v<T, double>, of_float = std::is_same_v<T, float>;
    constexpr int third = Part % 3;
    if constexpr (Part < 3) {
        for_each_activation<third, 3>(
            [&]<class Act>(char const* mode) { p.template activated_conv<Act, B, N>("CBNA", mode); });
    } else if constexpr (Part < 6) {
        for_each_activation<third, 3>(
            [&]<class Act>(char const* mode) { p.template activated_conv<Act, B>("CBA", mode); });
    } else if constexpr (Part < 9) {
        for_each_activation<third, 3>(
            [&]<class Act>(char const* mode) { p.template activated_conv<Act, B, M>("CBMA", mode); });
    } else if constexpr (Part == 9) {
        if constexpr (narrow) {
            p.template conv<fk::dynamic>("C");
            p.template conv<fk::dynamic, B>("CB");
            p.template conv<fk::dynamic, N>("CN");
            p.template conv<fk::dynamic, M>("CM");
            p.template conv<fk::dynamic, B, N>("CBN");
            p.template conv<fk::dynamic, Relu>("CA", "relu");
        }
    } else if constexpr (Part == 10) {
        if constexpr (narrow) {
            p.template conv<fk::dynamic, N, Relu>("CNA", "relu");
            p.template conv<fk::dynamic, B, R, Relu>("CBRA", "relu");
            p.template conv<fk::dynamic, B, N, R, Relu>("CBNRA", "relu");
            p.template conv<fk::dynamic, S, B, A<fk::Abs>, R>("CSBAR", "abs");
            p.template chosen_conv<fk::filter(3).pad(1), B, Relu>("CBA", "relu");
            p.template chosen_conv<fk::filter(3, 3, 3).pad(1), B, Relu>("CBA", "relu");
        }
    } else if constexpr (Part == 11) {
        for_each_activation([&]<class Act>(char const* mode) {
            p.template pointwise<N, Act>("NA", mode);
            p.template pointwise<M, Act>("MA", mode);
        });
        if constexpr (narrow) p.template pointwise<R, B, N, A<fk::Gelu>, S>("RBNAS", "gelu");
    } else if constexpr (Part < 15) {
        for_each_activation<third, 3>([&]<class Act>(char const* mode) {
            p.template training<2, TrainN, Act>("TA", mode);
            p.template training<2, TrainM, Act>("UA", mode);
        });
        if constexpr (narrow && third == 0) {
            p.template training<2, TrainN>("T");
            p.template training<2, TrainM>("U");
        }
        if constexpr (of_float && third == 1) {
            p.template training<1, TrainN, A<fk::Elu>>("TA", "elu");
            p.template training<1, TrainM, A<fk::Elu>>("UA", "elu");
            p.template training<3, TrainN, A<fk::Elu>>("TA", "elu");
            p.template training<3, TrainM, A<fk::Elu>>("UA", "elu");
        }
    } else {
        constexpr bool spatial = Part < 18;
        using Norm = std::conditional_t<spatial, TrainN, TrainM>;
        char const *const alone = spatial ? "T" : "U", *const activated = spatial ? "TA" : "UA";
        for_each_activation<third, 3>(
            [&]<class Act>(char const* mode) { p.template backward<2, Norm, Act>(activated, mode); });
        if constexpr (narrow && third == 0) p.template backward<2, Norm>(alone);
        if constexpr (of_float && third == 1) {
            p.template backward<1, Norm, A<fk::Elu>>(activated, "elu");
            p.template backward<3, Norm, A<fk::Elu>>(activated, "elu");
        }
    }
    return p.all;
}

}  // namespace test::table
