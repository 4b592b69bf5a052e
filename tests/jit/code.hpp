// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "compiler.hpp"

namespace test {

/// An ELF file with a section ".text.NAME", and `bytes` bytes that depend on `seed`.
inline fusekit::jit::Code code_of(std::string const& name, std::size_t bytes, unsigned seed) {
    std::string const names = std::string("\0.shstrtab\0.text.", 17) + name + std::string(1, '\0');
    std::string file(64, 0);
    file.replace(0, 5, "\177ELF\2");
    auto const write = [&](std::size_t at, std::uint64_t value, std::size_t size) {
        std::memcpy(file.data() + at, &value, size);
    };
    std::size_t const strings = file.size();
    file += names;
    for (std::size_t i = 0; i < bytes; ++i) file += static_cast<char>((i * 31 + seed) >> (i % 3));
    std::size_t const table = file.size();
    file.resize(table + 3 * 64);
    write(40, table, 8), write(58, 64, 2), write(60, 3, 2), write(62, 1, 2);
    write(table + 64, 1, 4), write(table + 64 + 24, strings, 8);
    write(table + 128, 11, 4);
    return {name, file};
}

}  // namespace test
