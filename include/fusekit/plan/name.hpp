// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace fusekit {

namespace detail {

/// The compiler's spelling of T, without namespaces and class keys: "Activation<Relu>".
template <class T>
std::string spelled() {
    std::string_view text = __PRETTY_FUNCTION__;  // "... [with T = fusekit::Bias; ...]" or "... [T = fusekit::Bias]"
    text.remove_prefix(text.find("T = ") + 4);
    text = text.substr(0, text.find_first_of(";]"));
    std::string result;
    for (char c : text) {
        result += c;
        if (result.ends_with("::") || result.ends_with("struct ") || result.ends_with("class "))
            result.resize(result.find_last_of("<, ", result.size() - 2) + 1);
    }
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
