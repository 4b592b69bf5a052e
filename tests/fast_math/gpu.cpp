// SPDX-License-Identifier: MIT
//
// Elementary functions and activations on a GPU: within the errors that they state there, and 2^-118; with FAST_MATH,
// under a GPU's fast math (nvcc --use_fast_math, clang -x hip -ffast-math), within twice these errors, as in
// functions.cpp. Needs a GPU:
//   nvcc -x cu -std=c++20 --expt-relaxed-constexpr --use_fast_math -DFAST_MATH -arch=sm_90a -Iinclude -Itests
//     tests/fast_math/gpu.cpp -o fast_math_gpu && ./fast_math_gpu
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "fusekit/hip.hpp"

namespace fk = fusekit;
namespace math = fusekit::math;
using namespace fusekit::hip;  // HIP's names, if they are not global

namespace {

#ifdef FAST_MATH
constexpr double allowed = 2;
#else
constexpr double allowed = 1;
#endif
constexpr int functions = 31;

FUSEKIT_HD float function(int number, float x) {
    switch (number) {
        case 0: return math::exp(x);
        case 1: return math::expm1(x);
        case 2: return math::log1p(x);
        case 3: return math::tanh(x);
        case 4: return math::logistic(x);
        case 5: return math::softplus(x);
        case 6: return math::sqrt(x);
        case 7: return math::log(x);
        case 8: return math::sin(x);
        case 9: return math::cos(x);
        case 10: return math::erf(x);
        case 11: return math::over_sqrt(1.0f, x);
        case 12: return math::pow(x, 2.0f);
        case 13: return math::pow(x, 3.7f);
        case 14: return fk::Elu::apply(x, {});
        case 15: return fk::Silu::apply(x, {});
        case 16: return fk::Mish::apply(x, {});
        case 17: return fk::Softsign::apply(x, {});
        case 18: return fk::HardSwish::slope(x, {});
        case 19: return fk::Tanh::slope(x, {});
        case 20: return math::exp_fast(x);
        case 21: return math::divide(1.0f, x);
        case 22: return math::normal_cdf(x);
        case 23: return fk::Gelu::apply(x, {});
        case 24: return fk::GeluTanh::apply(x, {});
        case 25: return fk::Logistic::slope(x, {});
        case 26: return fk::Silu::slope(x, {});
        case 27: return fk::Elu::slope(x, {});
        case 28: return fk::Mish::slope(x, {});
        case 29: return fk::Gelu::slope(x, {});
        default: return fk::HardSwish::apply(x, {});
    }
}

struct Exact {
    char const* name;
    double ulps;  ///< stated by the function for a GPU or by tests/support/catalogue.hpp
    float low, high;
    double (*value)(double x);
    double tail = 0;       ///< relative error for x < -1
    double of_terms = 0;  ///< ulps of a slope's larger term, which the other one may cancel
    double most = 1e300;  ///< largest magnitude, which no error exceeds
};
constexpr float largest = 3.4028234e38f, smallest = 0x1p-126f;
double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double normal(double x) { return std::erfc(-x * 0.70710678118654752) / 2; }
Exact const exact[functions] = {
    {"exp", 1, -largest, largest, [](double x) { return std::exp(x); }},
    {"expm1", 2, -largest, largest, [](double x) { return std::expm1(x); }},
    {"log1p", 3, 0, 1, [](double x) { return std::log1p(x); }},
    {"tanh", 4, -largest, largest, [](double x) { return std::tanh(x); }, 0, 0, 1},
    {"logistic", 4, -largest, largest, logistic, 0, 0, 1},
    {"softplus", 4, -largest, largest, [](double x) { return x > 40 ? x : std::log1p(std::exp(x)); }},
    {"sqrt", 1, 0, largest, [](double x) { return std::sqrt(x); }},
    {"log", 1, smallest, largest, [](double x) { return std::log(x); }},
    {"sin", 2, -1e5f, 1e5f, [](double x) { return std::sin(x); }},
    {"cos", 2, -1e5f, 1e5f, [](double x) { return std::cos(x); }},
    {"erf", 3, -largest, largest, [](double x) { return std::erf(x); }},
    {"over_sqrt", 2, smallest, largest, [](double x) { return 1 / std::sqrt(x); }},
    {"pow 2", 2, 1e-6f, largest, [](double x) { return x * x; }},
    {"pow 3.7", 2, 1e-6f, largest, [](double x) { return std::pow(x, double{3.7f}); }},
    {"elu", 3, -largest, largest, [](double x) { return x > 0 ? x : std::expm1(x); }},
    {"silu", 6, -largest, largest, [](double x) { return x * logistic(x); }},
    {"mish", 8, -largest, largest, [](double x) { return x > 40 ? x : x * std::tanh(std::log1p(std::exp(x))); }},
    {"softsign", 3, -largest, largest, [](double x) { return x / (1 + std::fabs(x)); }, 0, 0, 1},
    {"hardswish slope", 2, -2.9f, 2.9f, [](double x) { return (2 * x + 3) / 6; }},
    {"tanh slope", 6, -largest, largest, [](double x) { return 1 / (std::cosh(x) * std::cosh(x)); }},
    {"exp_fast", 3, -largest, 88, [](double x) { return std::exp(x); }},
    {"divide", 2, smallest, 0x1p126f, [](double x) { return 1 / x; }},
    {"normal_cdf", 9, -largest, largest, normal, 2e-5},
    {"gelu", 9, -largest, largest, [](double x) { return x * normal(x); }, 2e-5},
    {"gelutanh", 9, -largest, largest,
     [](double x) { return x * logistic(x * (1.5957691216057308 + 0.07135481627260026 * x * x)); }, 2e-5},
    {"logistic slope", 6, -largest, largest,
     [](double x) { return std::exp(-std::fabs(x)) / std::pow(1 + std::exp(-std::fabs(x)), 2); }},
    {"silu slope", 0, -largest, largest, [](double x) { return logistic(x) * (1 + x * logistic(-x)); }, 0, 12},
    {"elu slope", 3, -largest, largest, [](double x) { return x > 0 ? 1 : std::exp(x); }},
    {"mish slope", 0, -80, largest,
     [](double x) {
         double const t = x > 40 ? 1 : std::tanh(std::log1p(std::exp(x)));
         return t + x * (1 - t * t) * logistic(x);
     },
     0, 16},
    {"gelu slope", 0, -13, largest, [](double x) { return normal(x) + x * std::exp(-x * x / 2) * 0.3989422804014327; },
     0, 16},
    {"hardswish", 4, -2.9f, largest, [](double x) { return x >= 3 ? x : x * (x + 3) / 6; }},
};

__global__ void evaluate(float const* x, float* y, unsigned count) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        for (int f = 0; f < functions; ++f) y[static_cast<unsigned>(f) * count + i] = function(f, x[i]);
}

}  // namespace

int main() {
    if (fk::hip::device_count() == 0) return std::printf("skipped: no GPU\n"), 4;
    std::vector<float> in;
    for (std::uint64_t bits = 0x00800000; bits < 0x7f800000; bits += 9973) {
        auto const x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        in.push_back(x), in.push_back(-x);
    }
    for (int i = -12 * 4096; i <= 12 * 4096; ++i) in.push_back(static_cast<float>(i) / 4096);
    auto const count = static_cast<unsigned>(in.size());
    fk::hip::Device device;
    auto const length = static_cast<std::int64_t>(count);
    fk::Tensor<float, fk::hip::Device, 1> x(device, fk::channels(length)), y(device, fk::channels(functions * length));
    x.copy_from(in.data());
    evaluate<<<256, 256>>>(x.view().data, y.view().data, count);
    std::vector<float> out(in.size() * functions);
    if (hipDeviceSynchronize() != hipSuccess) return std::printf("the kernel failed\n"), 2;
    y.copy_to(out.data());
    int failures = 0;
    for (int f = 0; f < functions; ++f) {
        double worst = 0;
        float at = 0;
        for (unsigned i = 0; i < count; ++i) {
            double const want = exact[f].value(in[i]), got = out[static_cast<unsigned>(f) * count + i];
            if (in[i] < exact[f].low || in[i] > exact[f].high || !(std::fabs(want) < double{largest})) continue;
            double const ulp = std::ldexp(1.0, std::max(want == 0 ? -126 : std::ilogb(want), -126) - 23);
            double const terms = exact[f].of_terms * 0x1p-23 * std::max(1.0, std::fabs(double{in[i]})) *
                                 std::min(1.0, std::exp(double{in[i]}));
            double const share = in[i] < -1 ? exact[f].tail * std::fabs(want) : 0;
            double const error = std::fabs(got - want) / (allowed * (exact[f].ulps * ulp + share + terms) + 0x1p-118);
            if (!(error <= worst)) worst = error, at = in[i];
            if (std::fabs(got) > exact[f].most) worst = 1e300, at = in[i];
        }
        std::printf("%-16s %.3f of what is allowed, at %g\n", exact[f].name, worst, double{at});
        failures += !(worst <= 1);
    }
    std::printf("%d failures\n", failures);
    return failures != 0;
}
