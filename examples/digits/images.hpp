// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// 8 x 8 pixels, row-major, 0 (paper) to 1 (ink), and the label.
struct Image {
    int label;
    std::array<float, 64> pixels;
};

/// Held-out third of digits.txt, every image whose index leaves 2 when divided by 3, or the others.
inline std::vector<Image> read_images(std::filesystem::path const& path, bool held_out) {
    constexpr int total = 1797;
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot open " + path.string());
    std::vector<Image> images;
    int count = 0;
    for (std::string line; std::getline(file, line); ++count) {
        bool good = line.size() == 66 && line[0] >= '0' && line[0] <= '9' && line[1] == ' ';
        Image image{line.empty() ? 0 : line[0] - '0', {}};
        for (int i = 0; good && i < 64; ++i) {
            auto const level = std::string_view("0123456789abcdefg").find(line[2 + i]);
            good = level != std::string_view::npos;
            image.pixels[i] = static_cast<float>(level) / 16.0f;
        }
        if (!good)
            throw std::runtime_error(path.string() + ":" + std::to_string(count + 1) +
                                     ": expected a digit, a space and 64 of 0-9a-g, got '" + line + "'");
        if ((count % 3 == 2) == held_out) images.push_back(image);
    }
    if (count != total)
        throw std::runtime_error(path.string() + ": expected " + std::to_string(total) + " images, got " +
                                 std::to_string(count));
    return images;
}

/// Prints the images side by side, two characters per pixel, below their captions.
inline void draw(std::vector<Image> const& images, std::vector<std::string> const& captions) {
    for (auto const& caption : captions) std::printf("  %-16s", caption.c_str());
    std::printf("\n");
    for (int row = 0; row < 8; ++row) {
        for (auto const& image : images) {
            std::printf("  ");
            for (int column = 0; column < 8; ++column) {
                constexpr std::array shades{"  ", "░░", "▒▒", "▓▓", "██"};
                std::printf("%s", shades[static_cast<int>(image.pixels[8 * row + column] * 4 + 0.5f)]);
            }
        }
        std::printf("\n");
    }
    std::printf("\n");
}
