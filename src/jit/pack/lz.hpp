// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Compression of the embedded source: sequences of literals and of copies of earlier bytes (LZ77), in whole bytes.
///   sequence: literals (a number), the literals' bytes, length (a number; 0 ends the text), distance (two bytes)
///   number: 7 bits a byte, the lowest first; bit 7 is set in all bytes except the last
namespace fusekit::jit::lz {

inline constexpr std::size_t shortest_copy = 4, farthest = 65535;

inline void write_number(std::string& to, std::size_t value) {
    for (; value >= 128; value >>= 7) to.push_back(static_cast<char>(128 | (value & 127)));
    to.push_back(static_cast<char>(value));
}

/// Compresses a text: greedy copies of the longest of the last `depth` positions with the same first four bytes.
inline std::string compress(std::string const& text, int depth = 256) {
    constexpr std::size_t buckets = 1 << 16;
    std::vector<std::ptrdiff_t> last(buckets, -1), earlier(text.size(), -1);
    auto const bucket = [&](std::size_t at) {
        std::uint32_t word = 0;
        for (std::size_t i = 0; i < shortest_copy; ++i) word = word << 8 | static_cast<unsigned char>(text[at + i]);
        return word * 2654435761u >> 16;
    };
    auto const enter = [&](std::size_t at) {
        if (at + shortest_copy > text.size()) return;
        earlier[at] = last[bucket(at)];
        last[bucket(at)] = static_cast<std::ptrdiff_t>(at);
    };
    std::string packed;
    std::size_t literals = 0;  // position of the first literal that is not written yet
    auto const write = [&](std::size_t end, std::size_t length, std::size_t distance) {
        write_number(packed, end - literals);
        packed.append(text, literals, end - literals);
        write_number(packed, length);
        if (length == 0) return;
        packed.push_back(static_cast<char>(distance & 255));
        packed.push_back(static_cast<char>(distance >> 8));
        literals = end + length;
    };
    for (std::size_t at = 0; at < text.size();) {
        std::size_t best = 0, distance = 0;
        std::ptrdiff_t from = at + shortest_copy <= text.size() ? last[bucket(at)] : -1;
        for (int i = 0; i < depth && from >= 0 && at - static_cast<std::size_t>(from) <= farthest;
             ++i, from = earlier[static_cast<std::size_t>(from)]) {
            std::size_t const begin = static_cast<std::size_t>(from);
            std::size_t length = 0;
            while (at + length < text.size() && text[begin + length] == text[at + length]) ++length;
            if (length > best) best = length, distance = at - begin;
        }
        if (best < shortest_copy) {
            enter(at++);
            continue;
        }
        write(at, best, distance);
        for (std::size_t i = 0; i < best; ++i) enter(at++);
    }
    write(text.size(), 0, 0);
    return packed;
}

/// Returns the text that compress() packed.
inline std::string decompress(unsigned char const* at, unsigned char const* end) {
    std::string text;
    auto const number = [&] {
        std::size_t value = 0;
        for (int shift = 0; at < end; shift += 7) {
            unsigned char const byte = *at++;
            value |= static_cast<std::size_t>(byte & 127) << shift;
            if (byte < 128) break;
        }
        return value;
    };
    while (at < end) {
        std::size_t const literals = number();
        text.append(reinterpret_cast<char const*>(at), literals);
        at += literals;
        std::size_t const length = number();
        if (length == 0) break;
        std::size_t const distance = static_cast<std::size_t>(at[0]) + 256u * at[1];
        at += 2;
        for (std::size_t i = 0; i < length; ++i) text.push_back(text[text.size() - distance]);
    }
    return text;
}

}  // namespace fusekit::jit::lz
