// SPDX-License-Identifier: MIT
// The program of docs/run_time.md.
#include <fusekit/fusekit.hpp>
#include <fusekit/runtime/ready_made.hpp>
namespace fk = fusekit;
namespace runtime = fk::runtime;

#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <vector>

namespace {

using Set = runtime::PlanSet<fk::host::Device, runtime::ready_made::ConvBiasActivation>;  // and more, of yours too

fk::Refusal conv_bias_relu(fk::host::Device& device, runtime::View x, runtime::View w, runtime::View b,
                           runtime::View y) {
    runtime::Descriptor const sequence[] = {runtime::conv(fk::filter(3, 3).pad(1)), runtime::bias(),
                                            runtime::activation(runtime::ActivationMode::relu)};
    auto const plan = Set::find(sequence, fk::DataType::float32);
    if (!plan) return plan.error();
    runtime::Arguments arguments[3];
    arguments[0][runtime::Role::weights] = w;
    arguments[1][runtime::Role::bias] = b;
    return plan->run(device, arguments, x, y);  // allocates nothing
}

}  // namespace

TEST_CASE("the page's program finds a plan and runs it", "[runtime]") {
    fk::host::Device device(1);
    auto const x = fk::tensor<float>(device, fk::nchw(1, 1, 1, 3), {1, 4, 2});
    auto const w = fk::tensor<float>(device, fk::kcrs(1, 1, 3, 3), {0, 0, 0, -1, 1, 0, 0, 0, 0});
    auto const b = fk::tensor<float>(device, fk::channels(1), {1});
    fk::Tensor<float, fk::host::Device> y(device, x.layout());
    REQUIRE_FALSE(conv_bias_relu(device, x, w, b, y));
    std::vector<float> values(3);
    y.copy_to(values.data());
    CHECK(values == std::vector<float>{2, 4, 0});
}
