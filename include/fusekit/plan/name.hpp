// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>

#include "fusekit/text.hpp"

namespace fusekit {

namespace detail {

/// Copies the text of a list of types from `in` to `out`, up to its closing bracket, without namespaces and the words
/// struct and class. Advances both pointers; writes no more characters than it reads.
[[gnu::cold]] FUSEKIT_H inline void unqualified(char const*& in, char*& out) {
    auto const ends_with = [&](char const* begin, char const* suffix) {
        std::size_t const length = std::strlen(suffix);
        return out - begin >= static_cast<std::ptrdiff_t>(length) && std::memcmp(out - length, suffix, length) == 0;
    };
    for (char* name = out; *in && !std::strchr(">)}];", *in); ++in) {
        if (in[0] == ' ' && in[1] == '>') continue;  // g++ writes A<B<C> >
        *out++ = *in;
        if (std::strchr("<({[", *in)) {
            unqualified(++in, out);
            if (!*in) return;
            *out++ = *in;
        }
        bool const key =
            (out - name == 7 && ends_with(name, "struct ")) || (out - name == 6 && ends_with(name, "class "));
        if (ends_with(name, ", ")) name = out;
        else if (key || ends_with(name, "::")) out = name;
    }
}

/// Name of T as in the compiler's __PRETTY_FUNCTION__, without namespaces and the words struct and class:
/// "Activation<Relu>".
template <class T>
FUSEKIT_H Text spelled() {
    char const* in = std::strstr(__PRETTY_FUNCTION__, "T = ") + 4;  // "... [with T = fusekit::Bias; ...]"
    char name[sizeof __PRETTY_FUNCTION__];
    char* out = name;
    unqualified(in, out);
    return Text(name, static_cast<std::size_t>(out - name));
}

/// Name of a plan of `count` operators of these names: "Plan<Bias, Activation<Relu>>".
[[gnu::cold, gnu::noinline]] FUSEKIT_H inline Text plan_name(Text (*const* names)(), int count) {
    Text text = "Plan<";
    for (int i = 0; i < count; ++i) text += (i ? ", " : "") + names[i]();
    return text + ">";
}

}  // namespace detail

/// Name of a plan or an operator as in its author's source: "Plan<Conv<filter(3, 3).pad(1)>, Bias, Activation<Relu>>".
template <class T>
[[gnu::cold]] FUSEKIT_H Text type_name() {
    if constexpr (requires { T::name(); }) return T::name();
    else return detail::spelled<T>();
}

}  // namespace fusekit
