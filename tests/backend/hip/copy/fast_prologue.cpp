// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/fast_prologue.hpp"

#include <cmath>
#include <limits>

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"

using namespace test;

namespace {

using Silu = fk::detail::Epilogue<fk::Activation<fk::Silu>>;
using Logistic = fk::detail::Epilogue<fk::Activation<fk::Logistic>>;
using Scaled = fk::detail::Epilogue<fk::Scale, fk::Activation<fk::Relu>>;

/// Applies three prologues to each value.
struct ApplyAll : BlockOf<64> {
    using Architecture = fk::hip::arch::Sm90a;
    struct Params {
        float const* x;
        float* out;
        int count;
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned) {
        for (int i = static_cast<int>(thread); i < params.count; i += threads) {
            float const x = params.x[i];
            params.out[3 * i] = fk::hip::FastPrologue<Silu>::apply(x, Silu::State<float>{}, {});
            params.out[3 * i + 1] = fk::hip::FastPrologue<Logistic>::apply(x, Logistic::State<float>{}, {});
            params.out[3 * i + 2] =
                fk::hip::FastPrologue<Scaled>::apply(x, Scaled::State<float>{}, Scaled::Args{{{2.0f}}, {{}}});
        }
    }
};

}  // namespace

TEST_CASE("HIP: a prologue's fast SiLU and logistic have the stated error, and their limits at infinity") {
    fk::hip::Device device = sm90a_device();
    std::vector<float> x{0.0f, -0.0f, 1e-30f, 100, -100, 65504, -65504};
    for (float value = 1 / 1024.0f; value < 80; value *= 1.07f) x.push_back(value), x.push_back(-value);
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (float value : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) x.push_back(value);
    Array<float> const in(device, x), out(device, 3 * x.size(), 77.0f);
    run_blocks<ApplyAll>(device, {in.data(), out.data(), static_cast<int>(x.size())});
    auto const found = out.values();
    std::size_t const finite = x.size() - 3;
    for (std::size_t i = 0; i < finite; ++i) {
        double const value = double(x[i]), logistic = 1 / (1 + std::exp(-value)),
                     bound = (std::fabs(value) + 8) * 0x1p-23;
        CAPTURE(x[i]);
        // results below the smallest normal float may be 0
        CHECK(std::fabs(double(found[3 * i]) - value * logistic) <= bound * std::fabs(value * logistic) + 1e-35);
        CHECK(std::fabs(double(found[3 * i + 1]) - logistic) <= bound * logistic + 0x1p-126);
        CHECK(found[3 * i + 2] == std::fmax(2 * x[i], 0.0f));
    }
    CHECK((found[3 * finite] == infinity && found[3 * finite + 1] == 1));
    CHECK((found[3 * finite + 3] == 0 && found[3 * finite + 4] == 0));
    CHECK((std::isnan(found[3 * finite + 6]) && std::isnan(found[3 * finite + 7])));
}
