// SPDX-License-Identifier: MIT
#pragma once

#include <cstdarg>
#include <cstdio>
#include <string>

namespace bench {

/// Formats as printf. (nvcc compiles neither <format> nor fmt 9 in C++20.)
[[gnu::format(printf, 1, 2)]] inline std::string text(char const* format, ...) {
    std::va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    std::string result(static_cast<std::size_t>(std::vsnprintf(nullptr, 0, format, arguments)), '\0');
    std::vsnprintf(result.data(), result.size() + 1, format, again);
    va_end(again);
    va_end(arguments);
    return result;
}

}  // namespace bench
