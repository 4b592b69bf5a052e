// SPDX-License-Identifier: MIT
//
// Recognises handwritten digits: a small convolutional network, every layer one fused plan, on 599 real images of a
// held-out set. Exits with 1 if fewer than 98 % are right, with 2 on an error.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "images.hpp"
#include "network.hpp"

/// Predicted digits of the images. Adds the network's time to `seconds`.
template <class Device>
std::vector<int> classify(Device& device, Network<Device> const& network, std::vector<Image> const& images,
                          double& seconds) {
    constexpr std::size_t batch = 64;
    std::vector<int> answers;
    for (std::size_t first = 0; first < images.size(); first += batch) {
        std::size_t const n = std::min(batch, images.size() - first);
        std::vector<float> pixels, scores(10 * n);
        for (std::size_t i = 0; i < n; ++i)
            pixels.insert(pixels.end(), images[first + i].pixels.begin(), images[first + i].pixels.end());

        auto const begin = std::chrono::steady_clock::now();
        fk::Tensor<float, Device> x(device, fk::nhwc(n, 8, 8, 1));
        x.copy_from(pixels.data());
        network(x, [](auto&&...) {}).copy_to(scores.data());
        seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

        for (auto score = scores.begin(); score != scores.end(); score += 10)
            answers.push_back(static_cast<int>(std::max_element(score, score + 10) - score));
    }
    return answers;
}

template <class Device>
void describe(Device& device, Network<Device> const& network) {
    std::printf("The network, one fused plan a layer:\n");
    fk::Tensor<float, Device> x(device, fk::nhwc(1, 8, 8, 1));
    x.copy_from(std::array<float, 64>{}.data());
    network(x, [](fk::Text const& plan, fk::Index<4> const& in, fk::Index<4> const& out) {
        std::printf("  %14s -> %-14s  %s\n", fk::to_string(in).c_str(), fk::to_string(out).c_str(), plan.c_str());
    });
}

/// Returns the number of correct predictions.
int tabulate(std::vector<Image> const& images, std::vector<int> const& answers) {
    int table[10][10] = {}, right = 0;
    for (std::size_t i = 0; i < images.size(); ++i) {
        ++table[images[i].label][answers[i]];
        right += images[i].label == answers[i];
    }
    std::printf("\nWritten (rows), read (columns):\n     ");
    for (int column = 0; column < 10; ++column) std::printf("%4d", column);
    for (int row = 0; row < 10; ++row) {
        std::printf("\n  %3d", row);
        for (int count : table[row]) std::printf("%4s", count ? std::to_string(count).c_str() : ".");
    }
    std::printf("\n\n");
    return right;
}

/// Shows four correct predictions, then up to four wrong ones.
void show(std::vector<Image> const& images, std::vector<int> const& answers) {
    for (bool right : {true, false}) {
        std::vector<Image> some;
        std::vector<std::string> captions;
        for (std::size_t i = 0; i < images.size() && some.size() < 4; ++i) {
            if ((images[i].label == answers[i]) != right) continue;
            some.push_back(images[i]);
            std::string const answer = std::to_string(answers[i]);
            captions.push_back(right ? answer : "a " + std::to_string(images[i].label) + ", read as " + answer);
        }
        if (!some.empty()) draw(some, captions);
    }
}

template <class Device>
int read_digits(Device& device, std::filesystem::path const& data) {
    auto const images = read_images(data / "digits.txt", true);
    Network<Device> const network(device, Weights(data / "weights.bin"));
    describe(device, network);

    double first = 0, seconds = 0;
    auto const answers = classify(device, network, images, first);
    constexpr int rounds = 5;
    for (int round = 0; round < rounds; ++round) classify(device, network, images, seconds);

    int const right = tabulate(images, answers);
    show(images, answers);
    double const accuracy = 100.0 * right / static_cast<double>(images.size());
    std::printf("%.0f images per second\naccuracy %.2f %%: %d of %zu held-out images\n",
                rounds * static_cast<double>(images.size()) / seconds, accuracy, right, images.size());
    if (accuracy >= 98) return 0;
    std::printf("FAILED: expected 98 %% or more\n");
    return 1;
}

int main(int argc, char** argv) try {
    std::filesystem::path data = FUSEKIT_DIGITS_DATA;
    if (argc == 3 && argv[1] == std::string("--data")) {
        data = argv[2];
    } else if (argc != 1) {
        std::printf("Usage: digits [--data DIR]\n\nDIR holds digits.txt and weights.bin; unless given, it is\n%s\n",
                    data.string().c_str());
        return argc == 2 && argv[1] == std::string("--help") ? 0 : 2;
    }
    fk::host::Device device;
    return read_digits(device, data);
} catch (std::exception const& error) {
    std::fprintf(stderr, "digits: %s\n", error.what());
    return 2;
}
