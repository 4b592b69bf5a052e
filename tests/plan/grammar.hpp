// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/letters.hpp"
#include "support/run_case.hpp"

/// Every sequence of the built-in operators up to a length, as letters and as a plan.
namespace test::grammar {

inline constexpr int longest = 4, alphabet = 6;
inline constexpr int sequences = 6 + 36 + 216 + 1296;
/// Words of up to this length, the first ones, are compiled and run; longer ones are only compared with the rules.
inline constexpr int longest_run = GRAMMAR_LONGEST;
inline constexpr int sequences_run = longest_run == 4 ? sequences : 6 + 36 + 216;

/// By length: the number of allowed words up to it that begin with C, and of those without C.
inline constexpr int with_conv[] = {0, 1, 1 + 5, 1 + 5 + 19, 1 + 5 + 19 + 63};
inline constexpr int without_conv[] = {0, 5, 5 + 19, 5 + 19 + 63, 5 + 19 + 63 + 192};
/// Number of words that run: those above and, with a prologue, 4 of two letters and 30 of three.
inline constexpr int runs = with_conv[longest_run] + without_conv[longest_run] + 4 + 30;

/// A sequence of C, B, N, A, R, S by number, shorter ones first.
struct Word {
    char text[longest + 1] = {};
    int length = 1;

    constexpr explicit Word(int number) {
        for (int count = alphabet; number >= count; count *= alphabet) number -= count, ++length;
        for (int i = length - 1; i >= 0; --i, number /= alphabet) text[i] = "CBNARS"[number % alphabet];
    }
    constexpr std::string_view view() const { return {text, static_cast<std::size_t>(length)}; }
};

/// True if the rules allow a word; written from their sentences, independent of the library: at most one C; before it
/// and after it at most one each of B, N and A, in this order; S anywhere; R not before C.
constexpr bool allowed(std::string_view word) {
    if (word.empty()) return false;
    std::size_t const conv = word.find('C');
    if (conv != word.npos)
        return word.find('C', conv + 1) == word.npos && (conv == 0 || allowed(word.substr(0, conv))) &&
               word.substr(0, conv).find('R') == word.npos &&
               (conv + 1 == word.size() || allowed(word.substr(conv + 1)));
    std::string_view rest = "BNA";
    for (char letter : word) {
        if (letter == 'R' || letter == 'S') continue;
        std::size_t const at = rest.find(letter);
        if (at == rest.npos) return false;
        rest.remove_prefix(at + 1);
    }
    return true;
}

/// Takes a Word by value: g++ with sanitizers assumes that the address of a variable template's element may be null.
constexpr bool allowed(Word word) { return allowed(word.view()); }
constexpr std::size_t conv_of(Word word) { return word.view().find('C'); }

inline constexpr auto conv_geometry = fk::filter(2, 3).pad(1, 0, 0, 2);

template <char>
struct OperatorOf;
template <>
struct OperatorOf<'C'> : std::type_identity<fk::Conv<conv_geometry>> {};
template <>
struct OperatorOf<'B'> : std::type_identity<letters::B> {};
template <>
struct OperatorOf<'N'> : std::type_identity<letters::N> {};
template <>
struct OperatorOf<'A'> : std::type_identity<letters::A<fk::LeakyRelu>> {};
template <>
struct OperatorOf<'R'> : std::type_identity<letters::R> {};
template <>
struct OperatorOf<'S'> : std::type_identity<letters::S> {};
template <char Letter>
using Op = typename OperatorOf<Letter>::type;

/// Case that runs a word: sizes that are no multiple of a vector.
inline Case case_of(std::string_view word) {
    Case about = Case::parse("n2c3h5w6k5r1s1pt0l0b0r0u1v1d1e1g1 nhwc krsc float C #1");
    about.form = word;
    about.seed = 1;
    for (char letter : word) about.seed = about.seed * 7 + static_cast<std::uint64_t>(letter);
    if (word.find('A') != word.npos) about.mode = "leakyrelu";
    if (about.has_conv()) about.window = {2, 3, 1, 0, 0, 2, 1, 1, 1, 1, 1};
    else about.k = about.x.c;
    return about;
}

/// Verdict of the library on a word, and a function that runs it if library and rules accept it.
template <class Device>
struct Verdict {
    Word word;
    bool fusable;
    fk::DataType type;
    std::string types;
    Run<Device> run = nullptr;
};

template <int Number>
inline constexpr Word word_of{Number};

/// Element types of a word's x and y: every word has one pair of the twelve, consecutive words differ.
template <int Number>
struct TypesOfWord {
    using Floats = std::tuple<float, fk::half, fk::bfloat16>;
    using All = std::tuple<float, fk::half, fk::bfloat16, fk::int8>;
    using Type = Types<std::tuple_element_t<Number % 3, Floats>, std::tuple_element_t<Number / 3 % 4, All>>;
};

/// Maximum length of compiled plans with a prologue; longer ones are only compared with the rules.
inline constexpr int longest_with_prologue = 3;

template <class Device, int Number, std::size_t... I>
Verdict<Device> verdict(std::index_sequence<I...>) {
    constexpr Word const& word = word_of<Number>;
    constexpr std::size_t conv = conv_of(word);
    constexpr bool fusable = fk::Fusable<Op<word.text[I]>...>;
    using T = typename TypesOfWord<Number>::Type;
    Verdict<Device> v{word, fusable, fk::data_type<XOf<T>>, name_of_types<T>()};
    if constexpr (fusable && allowed(word) && word.length <= longest_run) {
        if constexpr (conv == std::string_view::npos) v.run = run_pointwise<Device, T, Op<word.text[I]>...>;
        else if constexpr (conv == 0 || sizeof...(I) <= longest_with_prologue)
            v.run = [&]<std::size_t... B, std::size_t... A>(std::index_sequence<B...>, std::index_sequence<A...>) {
                return WithPrologue<Op<word.text[B]>...>::template run<Device, T, conv_geometry,
                                                                       Op<word.text[conv + 1 + A]>...>;
            }(std::make_index_sequence<conv>{}, std::make_index_sequence<sizeof...(I) - conv - 1>{});
    }
    return v;
}
template <class Device, int Number>
Verdict<Device> verdict() {
    return verdict<Device, Number>(std::make_index_sequence<word_of<Number>.length>{});
}

/// The words are distributed over `Shards` translation units to bound compile time and memory; each includes
/// plan/grammar_shard.hpp.
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

/// Runs every plan on the numbers of its case, compared bit for bit; returns the number of plans. `check` receives each
/// case and its difference.
template <class Device, class F>
int run_all(std::vector<Verdict<Device>> const& verdicts, Device& device, F check) {
    int ran = 0;
    for (Verdict<Device> const& verdict : verdicts) {
        if (!verdict.run) continue;
        Case about = case_of(verdict.word.view());
        about.type = about.parameters = verdict.type;
        Problem const problem(about);
        oracle::Tensor const expected = problem.expected();
        std::string wrong = unfit(expected);
        for (Bounded const& y : expected.at)
            if (y.error != 0) wrong = "the case is not exact";
        check(about.print() + " " + verdict.types, wrong + verdict.run(problem, expected, device));
        ++ran;
    }
    return ran;
}

}  // namespace test::grammar
