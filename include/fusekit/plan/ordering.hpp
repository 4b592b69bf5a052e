// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"

namespace fusekit {

/// A string literal as a template argument.
template <int Size>
struct Sentence {
    char text[Size];
    consteval Sentence(char const (&literal)[Size]) {
        for (int i = 0; i < Size; ++i) text[i] = literal[i];
    }
};

/// False, with a reason: a compiler that reports an unsatisfied constraint prints the line it stands in.
template <Sentence>
inline constexpr bool because = false;

namespace detail {

/// The plan as the rules see it.
template <class... Ops>
struct Stages {
    static constexpr int size = sizeof...(Ops);
    static constexpr Stage at[size + 1] = {Ops::stage..., {}};

    static consteval int count(Stage stage) {
        int found = 0;
        for (int i = 0; i < size; ++i) found += at[i] == stage;
        return found;
    }

    /// Whether each operator of stage `early` stands before all of stage `late`.
    static consteval bool ordered(Stage early, Stage late) {
        for (int i = 0; i < size; ++i)
            for (int j = i + 1; j < size; ++j)
                if (at[i] == late && at[j] == early) return false;
        return true;
    }
};

template <class... Ops>
consteval bool conv_first() {
    using S = Stages<Ops...>;
    return S::count(Stage::convolution) == 0 || S::at[0] == Stage::convolution;
}

template <class... Ops>
consteval bool bias_early() {
    using S = Stages<Ops...>;
    return S::ordered(Stage::bias, Stage::normalization) && S::ordered(Stage::bias, Stage::activation);
}

template <class... Ops>
consteval bool one_of_each() {
    using S = Stages<Ops...>;
    return S::count(Stage::bias) <= 1 && S::count(Stage::normalization) <= 1 && S::count(Stage::activation) <= 1;
}

}  // namespace detail

template <class... Ops>
concept HasOperators = sizeof...(Ops) > 0
    || because<"a Plan needs at least one operator">;

template <class... Ops>
concept OneConv = detail::Stages<Ops...>::count(Stage::convolution) <= 1
    || because<"a second Conv reads its neighbours' results, so it is a second kernel: make it a second Plan">;

template <class... Ops>
concept ConvComesFirst = detail::conv_first<Ops...>()
    || because<"Conv produces the accumulator, so it must be the first operator of a Plan">;

template <class... Ops>
concept BiasComesEarly = detail::bias_early<Ops...>()
    || because<"Bias shifts the accumulator, so it stands before BatchNorm and Activation">;

template <class... Ops>
concept NormBeforeActivation = detail::Stages<Ops...>::ordered(Stage::normalization, Stage::activation)
    || because<"BatchNorm normalizes what Activation is applied to, so it stands before Activation">;

template <class... Ops>
concept OneOfEach = detail::one_of_each<Ops...>()
    || because<"a Plan has at most one Bias, one BatchNorm and one Activation: add more as operators of Stage::pointwise">;

/// Whether these operators, in this order, are one kernel. Each rule is one of the concepts above.
template <class... Ops>
concept Fusable = (Operator<Ops> && ...) && HasOperators<Ops...> && OneConv<Ops...> && ConvComesFirst<Ops...> &&
                  BiasComesEarly<Ops...> && NormBeforeActivation<Ops...> && OneOfEach<Ops...>;

}  // namespace fusekit
