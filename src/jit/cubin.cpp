// SPDX-License-Identifier: MIT
#include "cubin.hpp"

#include <cstring>

namespace fusekit::jit {

namespace {

struct Section {
    std::uint64_t name = 0, type = 0, offset = 0, size = 0, link = 0;
};

/// Sections of an ELF file; a file that is none has no sections.
class Elf {
public:
    explicit Elf(std::string const& the_file) : file(the_file) {
        if (file.compare(0, 5, "\177ELF\2") != 0) return;
        table = word(40, 8), step = word(58, 2);  // e_shoff, e_shentsize
        std::uint64_t const sections = word(60, 2), names = word(62, 2);  // e_shnum, e_shstrndx
        if (table >= file.size() || step < 64 || step > 1024 || sections > 0xffff || names >= sections) return;
        count = sections;
        section_names = section(names).offset;
    }
    std::uint64_t section_count() const { return count; }
    /// sh_name, sh_type, sh_offset, sh_size, sh_link
    Section section(std::uint64_t i) const {
        if (i >= count) return {};
        std::uint64_t const at = table + i * step;
        return {word(at, 4), word(at + 4, 4), word(at + 24, 8), word(at + 32, 8), word(at + 40, 4)};
    }
    std::string name_of(Section const& of) const { return text(section_names, of.name); }
    /// The zero-terminated text at index `at` of the strings at `strings`; "" if it is not in the file.
    std::string text(std::uint64_t strings, std::uint64_t at) const {
        if (strings >= file.size() || at >= file.size() - strings) return "";
        std::size_t const begin = strings + at, end = file.find('\0', begin);
        return end == std::string::npos ? "" : file.substr(begin, end - begin);
    }
    /// The little-endian number of `bytes` bytes at `at`; all bits set if it is not in the file.
    std::uint64_t word(std::uint64_t at, std::size_t bytes) const {
        std::uint64_t value = 0;
        if (at > file.size() || bytes > file.size() - at) return ~std::uint64_t{0};
        std::memcpy(&value, file.data() + at, bytes);
        return value;
    }

private:
    std::string const& file;
    std::uint64_t table = 0, step = 0, count = 0, section_names = 0;
};

}  // namespace

std::string kernel_name(std::string const& cubin) {
    constexpr std::uint64_t dynamic_symbols = 11, symbol_bytes = 24;  // SHT_DYNSYM, Elf64_Sym
    Elf const elf(cubin);
    std::string found;
    auto const add = [&](std::string const& name) {
        bool const is_only = found.empty();
        found = name;
        return is_only;
    };
    for (std::uint64_t i = 0; i < elf.section_count(); ++i) {
        Section const section = elf.section(i);
        std::string const name = elf.name_of(section);
        if (name.compare(0, 6, ".text.") == 0 && !add(name.substr(6))) return "";
        if (section.type != dynamic_symbols || section.offset > cubin.size() ||
            section.size > cubin.size() - section.offset)
            continue;
        std::uint64_t const strings = elf.section(section.link).offset, end = section.offset + section.size;
        for (std::uint64_t at = section.offset; at + symbol_bytes <= end; at += symbol_bytes) {
            std::string const symbol = elf.text(strings, elf.word(at, 4));  // st_name
            std::size_t const length = symbol.size();
            if (length > 3 && symbol.compare(length - 3, 3, ".kd") == 0 && !add(symbol.substr(0, length - 3)))
                return "";
        }
    }
    return found;
}

bool initial_value(std::string const& cubin, std::string const& name, std::uint32_t& value) {
    constexpr std::uint64_t symbol_table = 2, no_bits = 8, symbol_bytes = 24;  // SHT_SYMTAB, SHT_NOBITS, Elf64_Sym
    Elf const elf(cubin);
    for (std::uint64_t i = 0; i < elf.section_count(); ++i) {
        Section const symbols = elf.section(i);
        if (symbols.type != symbol_table || symbols.offset > cubin.size() ||
            symbols.size > cubin.size() - symbols.offset)
            continue;
        std::uint64_t const strings = elf.section(symbols.link).offset;
        for (std::uint64_t at = symbols.offset; at + symbol_bytes <= symbols.offset + symbols.size;
             at += symbol_bytes) {
            if (elf.text(strings, elf.word(at, 4)) != name) continue;  // st_name
            Section const of = elf.section(elf.word(at + 6, 2));  // st_shndx
            std::uint64_t const offset = elf.word(at + 8, 8);  // st_value
            if (of.size < sizeof value || offset > of.size - sizeof value) return false;
            if (of.type == no_bits) {  // zeros, which the file does not have
                value = 0;
                return true;
            }
            if (of.offset > cubin.size() || offset + sizeof value > cubin.size() - of.offset) return false;
            std::memcpy(&value, cubin.data() + of.offset + offset, sizeof value);
            return true;
        }
    }
    return false;
}

}  // namespace fusekit::jit
