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
struct Verdict {
    Word word;
    bool fusable;
    std::string (*run)(Problem const& problem, oracle::Tensor const& expected, fk::host::Device& device) = nullptr;
};

template <int Number>
Verdict verdict() {
    constexpr Word word(Number);
    return [&]<std::size_t... I>(std::index_sequence<0, I...>) {
        using First = Op<word.text[0]>;
        Verdict v{word, fk::Fusable<First, Op<word.text[I]>...>};
        if constexpr (allowed(word.view()) && fk::Fusable<First, Op<word.text[I]>...>) {
            if constexpr (word.text[0] == 'C') v.run = run_conv<float, conv_geometry, Op<word.text[I]>...>;
            else v.run = run_pointwise<float, First, Op<word.text[I]>...>;
        }
        return v;
    }(std::make_index_sequence<word.length>{});
}

/// The words are shared out over translation units, so that none takes long or much memory to compile.
inline constexpr int shards = 4;

template <int Shard>
std::vector<Verdict> const& shard();
template <>
std::vector<Verdict> const& shard<0>();
template <>
std::vector<Verdict> const& shard<1>();
template <>
std::vector<Verdict> const& shard<2>();
template <>
std::vector<Verdict> const& shard<3>();

template <int Shard>
std::vector<Verdict> make_shard() {
    return []<int... I>(std::integer_sequence<int, I...>) {
        return std::vector<Verdict>{verdict<I * shards + Shard>()...};
    }(std::make_integer_sequence<int, (sequences - Shard + shards - 1) / shards>{});
}

}  // namespace test::grammar
