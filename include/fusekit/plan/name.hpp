// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fusekit {

namespace detail {

/// Copies a list of types from `text`, up to what closes it, each without its namespaces and class key.
/// Returns the characters read.
inline std::size_t unqualified(std::string_view text, std::string& result) {
    constexpr std::string_view openers = "<({[", closers = ">)}];";
    std::size_t name = result.size(), i = 0;
    for (; i < text.size() && closers.find(text[i]) == closers.npos; ++i) {
        if (text[i] == ' ' && i + 1 < text.size() && text[i + 1] == '>') continue;  // g++ writes A<B<C> >
        result += text[i];
        if (openers.find(text[i]) != openers.npos) {
            i += 1 + unqualified(text.substr(i + 1), result);
            if (i < text.size()) result += text[i];
        }
        std::string_view const written = std::string_view(result).substr(name);
        if (written.ends_with(", ")) name = result.size();
        else if (written.ends_with("::") || written == "struct " || written == "class ") result.resize(name);
    }
    return i;
}

/// The compiler's spelling of T, without namespaces and class keys: "Activation<Relu>".
template <class T>
std::string spelled() {
    std::string_view text = __PRETTY_FUNCTION__;  // "... [with T = fusekit::Bias; ...]" or "... [T = fusekit::Bias]"
    text.remove_prefix(text.find("T = ") + 4);
    std::string result;
    unqualified(text, result);
    return result;
}

}  // namespace detail

/// A plan or an operator as its author wrote it: "Plan<Conv<filter(3, 3).pad(1)>, Bias, Activation<Relu>>".
template <class T>
std::string type_name() {
    if constexpr (requires { T::name(); }) return T::name();
    else return detail::spelled<T>();
}

}  // namespace fusekit
