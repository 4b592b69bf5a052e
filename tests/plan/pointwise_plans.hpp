// SPDX-License-Identifier: MIT
#pragma once

#include <tuple>

#include "plan/grammar.hpp"
#include "support/catalogue.hpp"

/// Every plan of the grammar without a Conv, with each kind of batch norm if it has one; activations alternate.
namespace test::grammar {

/// Case of a plan, in double: its letters, M for batch norm per activation, and its mode.
struct Pointwise {
    std::string letters, mode;
    Case about() const {
        Case about = Case::parse("n2c3h2w3k3r1s1pt0l0b0r0u1v1d1e1g1 nchw>nhwc kcrs double C");
        about.form = letters, about.mode = mode;
        about.real = true;
        about.seed = letters.size();
        for (char letter : letters + mode) about.seed = about.seed * 31 + static_cast<std::uint64_t>(letter);
        return about;
    }
};

namespace detail {

template <char Letter, class Norm, class Mode>
struct PointwiseOf : OperatorOf<Letter> {};
template <class Norm, class Mode>
struct PointwiseOf<'N', Norm, Mode> : std::type_identity<Norm> {};
template <class Norm, class Mode>
struct PointwiseOf<'A', Norm, Mode> : std::type_identity<fk::Activation<Mode>> {};

template <int Number, class Norm, class F>
void visit(F const& f, char norm) {
    // The factor makes words of up to three letters reach every mode.
    constexpr int turn = (9 * Number + Number / 6 + Number / 36 + Number / 216) % catalogue::modes;
    using Mode = std::tuple_element_t<turn, catalogue::Modes>;
    Pointwise about{std::string(word_of<Number>.view()), ""};
    if (about.letters.find('A') != about.letters.npos) about.mode = catalogue::line<turn>.name;
    for (char& letter : about.letters)
        if (letter == 'N') letter = norm;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        f.template operator()<typename PointwiseOf<word_of<Number>.text[I], Norm, Mode>::type...>(about);
    }(std::make_index_sequence<word_of<Number>.length>{});
}

}  // namespace detail

/// Calls f.operator()<Ops...>(Pointwise) for every plan, distributed over `Shards` translation units.
template <int Shard, int Shards, class F>
void for_each_pointwise_plan(F const& f) {
    auto const visit = [&]<int Number>() {
        constexpr Word word{Number};  // local: with sanitizers a static one's address is not constant
        if constexpr (allowed(word.view()) && word.view().find('C') == std::string_view::npos) {
            detail::visit<Number, fk::BatchNormInference<fk::Spatial>>(f, 'N');
            if constexpr (word.view().find('N') != std::string_view::npos)
                detail::visit<Number, fk::BatchNormInference<fk::PerActivation>>(f, 'M');
        }
    };
    [&]<int... I>(std::integer_sequence<int, I...>) {
        (visit.template operator()<I * Shards + Shard>(), ...);
    }(std::make_integer_sequence<int, (sequences_run - Shard + Shards - 1) / Shards>{});
}

}  // namespace test::grammar
