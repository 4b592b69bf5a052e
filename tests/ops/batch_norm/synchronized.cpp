// SPDX-License-Identifier: MIT
#include "fusekit/ops/batch_norm/synchronized.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support/refusal.hpp"
#include "support/synchronized_parts.hpp"

using namespace test;

static_assert(fk::Fusable<fk::BatchNormSynchronized, fk::Activation<fk::Relu>>);
static_assert(fk::Fusable<fk::Conv<fk::filter(1, 1)>, fk::BatchNormSynchronized>);

TEST_CASE("ranks' batch norm in training and its gradients are those of the whole batch") {
    fk::host::Device device(2);
    check_synchronized<float>(device);
}

TEST_CASE("gradients of ranks are those of finite differences over the whole batch") {
    auto const batch = synchronized_batch<float>({2, 1}, {3, 2, 2, 2}, 0.5);
    fk::host::Device device(1);
    SynchronizedRun<float, fk::host::Device> run(device, batch, "nchw");
    run.check();
    // L = sum of dy tanh(batch norm(x)), in double
    auto const loss = [&](std::size_t element, double value) {
        auto x = batch.x;
        x[element] = value;
        double sum = 0;
        for (std::size_t k = 0; k < 2; ++k) {
            double mean = 0, variance = 0;
            auto const each = [&](auto const& f) {
                for (std::size_t n = 0; n < 3; ++n)
                    for (std::size_t i = 0; i < 4; ++i) f((2 * n + k) * 4 + i);
            };
            each([&](std::size_t i) { mean += x[i] / 12; });
            each([&](std::size_t i) { variance += (x[i] - mean) * (x[i] - mean) / 12; });
            double const factor = batch.scale[k] / std::sqrt(variance + batch.epsilon);
            each([&](std::size_t i) { sum += batch.dy[i] * std::tanh((x[i] - mean) * factor + batch.shift[k]); });
        }
        return sum;
    };
    REQUIRE(run.gradient.size() == batch.x.size());
    for (std::size_t i = 0; i < batch.x.size(); ++i) {
        auto const [value, error] = derivative<double>([&](double x) { return loss(i, x); }, batch.x[i], 0x1p-6);
        INFO("element " << i << ", by differences " << value << " +- " << error);
        CHECK(std::fabs(run.gradient[i] - value) <= error + 1e-4 * (1 + std::fabs(value)));
    }
}

TEST_CASE("the gradient of a synchronised batch norm without its sums is refused") {
    fk::host::Device device(1);
    using Layer = fk::Plan<fk::BatchNormSynchronized, fk::Activation<fk::Relu>>;
    auto const x = fk::random<float>(device, fk::nchw(2, 3, 2, 2));
    auto const three = fk::random<float>(device, fk::channels(3)), four = fk::random<float>(device, fk::channels(4)),
               one = fk::random<float>(device, fk::channels(1));
    auto const refused = [&](auto const& set) {
        fk::BatchNormSynchronized::Args args{three, three, three, three};
        set(args);
        return refusal([&] { (void)fk::Backward<Layer>::bind(Layer::bind(args, {}), x)(device, x); });
    };
    std::string const norm = "Plan<Gradient<BatchNormSynchronized, Activation<Relu>>>: BatchNormSynchronized.";
    CHECK(refused([](auto&) {}) == norm + "scale_gradient: expected the sum over all parts of the batch, got nothing");
    CHECK(refused([&](auto& a) { a.scale_gradient = three; }) ==
          norm + "shift_gradient: expected the sum over all parts of the batch, got nothing");
    CHECK(refused([&](auto& a) { a.scale_gradient = a.shift_gradient = three; }) ==
          norm + "total_count: expected the number of values of the batch, got nothing");
    CHECK(refused([&](auto& a) { a.scale_gradient = a.shift_gradient = four, a.total_count = one; }) ==
          norm + "scale_gradient: expected 3 (K), got 4");
    CHECK(refused([&](auto& a) { a.scale_gradient = a.shift_gradient = a.total_count = three; }) ==
          norm + "total_count: expected 1 (1), got 3");
    CHECK(refused([&](auto& a) { a.epsilon = -1; }).find("epsilon: expected a finite number, 0 or more, got -1") !=
          std::string::npos);
    CHECK(refused([&](auto& a) { a.scale_gradient = a.shift_gradient = three, a.total_count = one; }) == "accepted");
}
