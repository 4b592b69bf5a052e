// SPDX-License-Identifier: MIT
//
// Accuracy of float products: errors of sums of K products against sums in double, with FMA instructions and with
// sm_90a's tensor cores (both kernels), in units of 2^-24 of the sum of the products' magnitudes. A chain of K float
// additions has an error of at most K units (Higham 2002, section 3.1).
#include <fusekit/hip.hpp>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "support/hip_machine.hpp"
#include "support/machine.hpp"
#include "support/options.hpp"

namespace {

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(1, 1)>>;
constexpr int rows = 64;  ///< of either factor

/// Numbers of mean zero, or of one sign.
std::vector<float> numbers(int count, bool one_sign, std::mt19937& generator) {
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<float> uniform(0, 1);
    std::vector<float> all(static_cast<std::size_t>(count));
    for (float& each : all) each = one_sign ? uniform(generator) : normal(generator);
    return all;
}

enum class Layout { channels_last, planes };

template <class Scheduled>
void measure(fk::hip::Device& device, Scheduled scheduled, char const* name, int k, bool one_sign,
             Layout layout = Layout::channels_last) {
    std::mt19937 generator(static_cast<unsigned>(k));
    auto const of_x = numbers(rows * k, one_sign, generator), of_w = numbers(rows * k, one_sign, generator);
    bool const planes = layout == Layout::planes;
    auto const image = [&](int channels) { return planes ? fk::nchw(1, channels, 8, 8) : fk::nhwc(1, 8, 8, channels); };
    fk::Tensor<float, fk::hip::Device> x(device, image(k)), w(device, fk::krsc(rows, 1, 1, k)), y(device, image(rows));
    x.copy_from(of_x.data());
    w.copy_from(of_w.data());
    Layer::bind({.weights = w})(scheduled, x, y);
    std::vector<float> sums(static_cast<std::size_t>(rows) * rows);
    y.copy_to(sums.data());
    double squares = 0, largest = 0, all = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        std::size_t const pixel = planes ? i % rows : i / rows, channel = planes ? i / rows : i % rows;
        double sum = 0, magnitude = 0;
        for (std::size_t j = 0; j < static_cast<std::size_t>(k); ++j) {
            double const product = double{of_x[planes ? j * rows + pixel : pixel * static_cast<std::size_t>(k) + j]} *
                                   double{of_w[channel * static_cast<std::size_t>(k) + j]};
            sum += product, magnitude += std::fabs(product);
        }
        double const error = (double{sums[i]} - sum) / magnitude * (1 << 24);
        squares += error * error, all += error, largest = std::fmax(largest, std::fabs(error));
    }
    auto const count = static_cast<double>(sums.size());
    std::printf("%-12s %-6s %6d %8.3f %8.2f %8.3f\n", one_sign ? "U(0,1)" : "N(0,1)", name, k,
                std::sqrt(squares / count), largest, all / count);
}

int run(int argc, char** argv) {
    int index = 0;
    if (!bench::CommandLine("float_accuracy", "errors of products of float")
             .integer("--index", index, 0, 1023, "which GPU")
             .parse(argc, argv))
        return 0;
    fk::hip::Device device(index);
    bench::Machine const machine = bench::gpu_machine(device);
    std::printf("%s, driver %s, %s, %s\n%-12s %-6s %6s %8s %8s %8s\n", machine.device.c_str(), machine.driver.c_str(),
                machine.compiler.c_str(), bench::today().c_str(), "factors", "on", "K", "rms", "largest", "mean");
    for (bool const one_sign : {false, true})
        for (int const k : {16, 64, 256, 512, 1152, 2304, 4608}) {
            measure(device, device.with<fk::hip::Gemm<128, 64, 16, 3>>(), "plain", k, one_sign);
            measure(device, device.with<fk::hip::MatrixGemm<128, 128, 1>>(), "matrix", k, one_sign);
            measure(device, device.with<fk::hip::Planes<240, 1>>(), "planes", k, one_sign, Layout::planes);
        }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return bench::run_program("float_accuracy", [&] { return run(argc, argv); });
}
