// SPDX-License-Identifier: MIT
// Runs the tests of tests/ops/batch_norm/training.cpp and tests/plan/backward.cpp on a GPU.
#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "backend/hip/waves.hpp"
#include "support/backward_outputs.hpp"
#include "support/backward_plans.hpp"
#include "support/half_types.hpp"
#include "support/training_cases.hpp"

using namespace test;

namespace {

/// Training of bfloat16 is also run by outputs.cpp.
using Elements = HalvesAnd<float>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("HIP: batch norm in training and its gradients, of odd shapes", "", Elements) {
    fk::hip::Device device = gpu();
    check_training_of_odd_shapes<TestType>(device, pairs_on(device));
}

TEMPLATE_LIST_TEST_CASE("HIP: batch norm in training and its gradients are exact where arithmetic is", "", Elements) {
    fk::hip::Device device = gpu();
    check_training_of_integers<TestType>(device, pairs_on(device));
}

TEST_CASE("HIP: batch statistics stay accurate where squares would cancel, overflow or underflow") {
    fk::hip::Device device = gpu();
    check_training_of_hard_numbers(device, pairs_on(device));
    check_variance_of_far_values(device);
    check_training_of_no_numbers(device);
}

TEST_CASE("HIP: training is bitwise identical in every run") {
    fk::hip::Device device = gpu();
    auto const check = [&](auto bits) {
        for (auto const& layout : {fk::nchw(6, 2, 31, 33), fk::nhwc(6, 16, 32, 8)}) {
            auto const expected = bits(layout);
            for (int run = 1; run < (GRAPH_REPLAYS < 10 ? GRAPH_REPLAYS : 10); ++run) CHECK(bits(layout) == expected);
        }
    };
    check([&](auto const& layout) { return bits_of_training<fk::BatchNormTraining<fk::Spatial>>(device, layout); });
    check(
        [&](auto const& layout) { return bits_of_training<fk::BatchNormTraining<fk::PerActivation>>(device, layout); });
}
