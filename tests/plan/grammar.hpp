// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/run_case.hpp"

/// Every sequence of the built-in operators up to a length, as its letters and as a plan.
namespace test::grammar {

inline constexpr int longest = 4, letters = 6;
inline constexpr int sequences = 6 + 36 + 216 + 1296;

/// A sequence of C, B, N, A, R, S by its number, shorter ones first.
struct Word {
    char text[longest + 1] = {};
    int length = 1;

    constexpr explicit Word(int number) {
        for (int count = letters; number >= count; count *= letters) number -= count, ++length;
        for (int i = length - 1; i >= 0; --i, number /= letters) text[i] = "CBNARS"[number % letters];
    }
    constexpr std::string_view view() const { return {text, static_cast<std::size_t>(length)}; }
};

/// Whether the rules allow a word, written from their sentences and not from the library: C only in front; of B, N
/// and A at most one each, in this order; R and S anywhere else.
constexpr bool allowed(std::string_view word) {
    if (word.empty()) return false;
    if (word.find('C', 1) != word.npos) return false;
    std::string_view rest = "BNA";
    for (char letter : word) {
        if (letter == 'C' || letter == 'R' || letter == 'S') continue;
        std::size_t const at = rest.find(letter);
        if (at == rest.npos) return false;
        rest.remove_prefix(at + 1);
    }
    return true;
}

inline constexpr auto conv_geometry = fk::filter(2, 3).pad(1, 0, 0, 2);

template <char>
struct OperatorOf;
template <>
struct OperatorOf<'C'> : std::type_identity<fk::Conv<conv_geometry>> {};
template <>
struct OperatorOf<'B'> : std::type_identity<fk::Bias> {};
template <>
struct OperatorOf<'N'> : std::type_identity<fk::BatchNormInference<fk::Spatial>> {};
template <>
struct OperatorOf<'A'> : std::type_identity<fk::Activation<fk::LeakyRelu>> {};
template <>
struct OperatorOf<'R'> : std::type_identity<fk::Residual> {};
template <>
struct OperatorOf<'S'> : std::type_identity<fk::Scale> {};
template <char Letter>
using Op = typename OperatorOf<Letter>::type;

/// The case that runs a word: sizes that are no multiple of a vector.
inline Case case_of(std::string_view word) {
    Case about = Case::parse("n2c3h5w6k5r1s1pt0l0b0r0u1v1d1e1g1 nhwc krsc float C #1");
    about.form = word;
    about.seed = 1;
    for (char letter : word) about.seed = about.seed * 7 + static_cast<std::uint64_t>(letter);
    if (word.find('A') != word.npos) about.mode = "leakyrelu";
    if (word[0] == 'C') about.window = {2, 3, 1, 0, 0, 2, 1, 1, 1, 1, 1};
    else about.k = about.x.c;
    return about;
}

/// What the library says of a word, and how to run it where that and the rules say that it may be run.
template <class Device>
struct Verdict {
    Word word;
    bool fusable;
    Run<Device> run = nullptr;
};

template <int Number>
inline constexpr Word word_of{Number};

template <class Device, int Number, std::size_t... I>
Verdict<Device> verdict(std::index_sequence<0, I...>) {
    constexpr Word const& word = word_of<Number>;
    using First = Op<word.text[0]>;
    constexpr bool fusable = fk::Fusable<First, Op<word.text[I]>...>;
    Verdict<Device> v{word, fusable};
    if constexpr (fusable && allowed(word.view())) {
        if constexpr (word.text[0] == 'C') v.run = run_conv<Device, float, conv_geometry, Op<word.text[I]>...>;
        else v.run = run_pointwise<Device, float, First, Op<word.text[I]>...>;
    }
    return v;
}
template <class Device, int Number>
Verdict<Device> verdict() {
    return verdict<Device, Number>(std::make_index_sequence<word_of<Number>.length>{});
}

/// The words are dealt out over `Shards` translation units, so that none takes long or much memory to compile; each
/// includes plan/grammar_shard.hpp.
template <class Device, int Shard, int Shards>
std::vector<Verdict<Device>> const& shard();

template <class Device, int Shards>
std::vector<Verdict<Device>> all_verdicts() {
    std::vector<Verdict<Device>> all;
    [&]<int... I>(std::integer_sequence<int, I...>) {
        (all.insert(all.end(), shard<Device, I, Shards>().begin(), shard<Device, I, Shards>().end()), ...);
    }(std::make_integer_sequence<int, Shards>{});
    return all;
}

/// Runs every plan on the numbers of its case, bit for bit; returns how many there were. `check` is told what was run,
/// and what was wrong with it.
template <class Device, class F>
int run_all(std::vector<Verdict<Device>> const& verdicts, Device& device, F check) {
    int ran = 0;
    for (Verdict<Device> const& verdict : verdicts) {
        if (!verdict.run) continue;
        Case const about = case_of(verdict.word.view());
        Problem const problem(about);
        oracle::Tensor const expected = problem.expected();
        std::string wrong = unfit(expected);
        for (Bounded const& y : expected.at)
            if (y.error != 0) wrong = "the case is not exact";
        check(about.print(), wrong + verdict.run(problem, expected, device));
        ++ran;
    }
    return ran;
}

}  // namespace test::grammar
