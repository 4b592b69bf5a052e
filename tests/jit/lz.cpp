// SPDX-License-Identifier: MIT
#include "pack/lz.hpp"

#include <catch2/catch_test_macros.hpp>
#include <random>

namespace lz = fusekit::jit::lz;

namespace {

std::string unpacked(std::string const& packed) {
    auto const* const begin = reinterpret_cast<unsigned char const*>(packed.data());
    return lz::decompress(begin, begin + packed.size());
}

}  // namespace

TEST_CASE("compression: texts are unchanged") {
    std::mt19937 random(1);
    for (int i = 0; i < 300; ++i) {
        std::string text(random() % 3000, 0);
        unsigned const letters = 1 + random() % 40;
        for (char& c : text) c = static_cast<char>(random() % letters);
        for (int copy = 0; copy < 20 && text.size() > 100; ++copy) {
            std::size_t const from = random() % (text.size() - 50), length = random() % 50;
            text.insert(random() % text.size(), text.substr(from, length));
        }
        REQUIRE(unpacked(lz::compress(text)) == text);
    }
}

TEST_CASE("compression: copies that overlap their source, and distances at the limit") {
    REQUIRE(unpacked(lz::compress(std::string(100000, 'a'))) == std::string(100000, 'a'));
    REQUIRE(lz::compress(std::string(100000, 'a')).size() < 20);
    std::string const phrase = "0123456789abcdefghij";
    for (std::size_t const gap : {lz::farthest - phrase.size(), lz::farthest, lz::farthest + 1}) {
        std::string text = phrase;
        for (std::size_t i = 0; i < gap; ++i) text += static_cast<char>(i * 37 % 251);
        text += phrase;
        REQUIRE(unpacked(lz::compress(text)) == text);
    }
    REQUIRE(unpacked(lz::compress("")).empty());
}
