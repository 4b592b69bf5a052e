// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "compiler.hpp"

namespace test {

/// An ELF file with a section ".text.NAME", `bytes` bytes that depend on `seed`, and a variable with the value `seed`.
inline fusekit::jit::Code code_of(std::string const& name, std::size_t bytes, unsigned seed,
                                  std::string const& variable = "a_word") {
    std::string const names =
        std::string("\0.shstrtab\0", 11) + variable + std::string("\0.text.", 7) + name + std::string(1, '\0');
    std::string file(64, 0);
    file.replace(0, 5, "\177ELF\2");
    auto const write = [&](std::size_t at, std::uint64_t value, std::size_t size) {
        std::memcpy(file.data() + at, &value, size);
    };
    std::size_t const strings = file.size();
    file += names;
    for (std::size_t i = 0; i < bytes; ++i) file += static_cast<char>((i * 31 + seed) >> (i % 3));
    std::size_t const data = file.size(), symbols = data + 12;
    file.resize(symbols + 48);
    write(data + 8, seed, 4);
    write(symbols + 24, 11, 4), write(symbols + 24 + 6, 3, 2), write(symbols + 24 + 8, 8, 8);
    std::size_t const table = file.size();
    file.resize(table + 5 * 64);
    write(40, table, 8), write(58, 64, 2), write(60, 5, 2), write(62, 1, 2);
    auto const write_section = [&](std::size_t i, std::uint64_t of_name, std::uint64_t type, std::size_t offset,
                                   std::size_t size, std::uint64_t link) {
        std::size_t const at = table + 64 * i;
        write(at, of_name, 4), write(at + 4, type, 4), write(at + 24, offset, 8), write(at + 32, size, 8);
        write(at + 40, link, 4);
    };
    write_section(1, 1, 3, strings, names.size(), 0);
    write_section(2, 12 + variable.size(), 1, strings + names.size(), bytes, 0);
    write_section(3, 0, 1, data, 12, 0);
    write_section(4, 0, 2, symbols, 48, 1);
    return {name, file};
}

}  // namespace test
