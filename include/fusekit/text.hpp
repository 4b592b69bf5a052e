// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <utility>

#include "fusekit/config.hpp"

namespace fusekit {

/// String type of names, messages and descriptions. Converts to and from std::string and std::string_view, and prints
/// to streams and with fmt::print("{}", text), but does not include <string>, which takes 0.3 s to compile; this
/// library takes 0.15 s. Its functions are not called where speed matters: they are `cold`, compiled for size.
class Text {
public:
    [[gnu::cold]] FUSEKIT_H Text(char const* characters = "") : Text(characters, std::strlen(characters)) {}
    [[gnu::cold, gnu::noinline]] FUSEKIT_H Text(char const* characters, std::size_t count)
        : length(count), memory(new char[count + 1]) {
        std::memcpy(memory, characters, count);
        memory[count] = 0;
    }
    template <class String>
        requires requires(String const& from) { String::npos, from.c_str(), from.size(); }
    FUSEKIT_H Text(String const& from) : Text(from.c_str(), from.size()) {}
    [[gnu::cold]] FUSEKIT_H Text(Text const& other) : Text(other.c_str(), other.length) {}
    [[gnu::cold]] FUSEKIT_H Text(Text&& other) noexcept
        : length(config::exchange(other.length, std::size_t{0})), memory(config::exchange(other.memory, nullptr)) {}
    FUSEKIT_H Text& operator=(Text other) noexcept {
        config::swap(length, other.length);
        config::swap(memory, other.memory);
        return *this;
    }
    [[gnu::cold, gnu::noinline]] FUSEKIT_H ~Text() { delete[] memory; }

    /// Text of a number: an integer with all digits, any other number as printf's %.9g.
    template <class Number>
    FUSEKIT_H static Text number(Number value) {
        char characters[32];
        if constexpr (std::is_integral_v<Number>)
            std::snprintf(characters, sizeof characters, "%lld", static_cast<long long>(value));
        else std::snprintf(characters, sizeof characters, "%.9g", static_cast<double>(value));
        return characters;
    }

    FUSEKIT_H char const* c_str() const { return memory ? memory : ""; }
    FUSEKIT_H std::size_t size() const { return length; }
    FUSEKIT_H bool empty() const { return length == 0; }
    FUSEKIT_H bool contains(char const* part) const { return std::strstr(c_str(), part) != nullptr; }

    [[gnu::cold, gnu::noinline]] FUSEKIT_H Text& operator+=(Text const& more) { return *this = *this + more; }
    [[gnu::cold, gnu::noinline]] FUSEKIT_H friend Text operator+(Text const& a, Text const& b) {
        Text sum(a.c_str(), a.length + b.length, a.length);
        std::memcpy(sum.memory + a.length, b.c_str(), b.length);
        return sum;
    }
    FUSEKIT_H friend bool operator==(Text const& a, Text const& b) { return std::strcmp(a.c_str(), b.c_str()) == 0; }

    /// Converts to std::string, std::string_view and similar types.
    template <class String>
        requires requires(char const* characters, std::size_t count) { String::npos, String(characters, count); }
    FUSEKIT_H operator String() const {
        return String(c_str(), length);
    }

    template <class Stream>
        requires requires(Stream& stream) { stream.rdbuf(), stream << ""; }
    FUSEKIT_H friend Stream& operator<<(Stream& stream, Text const& text) {
        stream << text.c_str();
        return stream;
    }

    /// Called by fmt 10 and later; earlier versions format types that convert to std::string_view.
    FUSEKIT_H friend char const* format_as(Text const& text) { return text.c_str(); }

private:
    std::size_t length;
    char* memory;

    /// Text of `count` characters: copies the first `used` from `characters`, and the caller writes the others.
    FUSEKIT_H Text(char const* characters, std::size_t count, std::size_t used)
        : length(count), memory(new char[count + 1]) {
        std::memcpy(memory, characters, used);
        memory[count] = 0;
    }
};

}  // namespace fusekit
