// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "compat/call_at_once.hpp"
#include "compat/refused.hpp"

using namespace test::miopen;
using namespace test;

TEST_CASE("MIOpen: the immediate call fuses convolution, z, bias and every activation, with alpha1 and alpha2") {
    char const* const names[] = {"passthru", "logistic",    "tanh",      "relu", "softrelu", "abs",
                                 "power",    "clippedrelu", "leakyrelu", "elu",  "clamp"};
    CallAtOnce call(fk::DataType::float32);
    float const half = 0.5f, two = 2, one = 1;
    for (int i = 0; i < 11; ++i) {
        INFO(names[i]);
        auto const mode = oracle::Mode{names[i]}.with_arguments();
        auto const made = activation(static_cast<miopenActivationMode_t>(i), mode.alpha, mode.beta, mode.gamma);
        succeeds(call.run(&half, &two, made));
        CHECK(call.wrong(0.5, 2, mode) == "");
    }
    auto const relu = activation(miopenActivationRELU);
    succeeds(call.run(nullptr, &half, relu));
    CHECK(call.wrong(1, 0.5, {"relu"}) == "");
    succeeds(call.run(&one, nullptr, relu));
    CHECK(call.wrong(1, 1, {"relu"}) == "");
}

TEST_CASE("MIOpen: the immediate call omits a z that is null or scaled by 0") {
    CallAtOnce call(fk::DataType::float32);
    float const none = 0, two = 2, one = 1;
    auto const relu = activation(miopenActivationRELU);
    succeeds(call.run(&one, &none, relu, nullptr, nullptr));
    CHECK(call.wrong(1, 0, {"relu"}) == "");
    succeeds(call.run(&two, &none, relu, call.y.descriptor, call.y.data()));  // y, as some callers pass
    CHECK(call.wrong(2, 0, {"relu"}) == "");
    // Null z, and a descriptor that was never set, as in MIOpen's own test of the call.
    succeeds(call.run(&two, &one, relu, Tensor(), nullptr));
    CHECK(call.wrong(2, 0, {"relu"}) == "");
    succeeds(call.run(&one, nullptr, relu, nullptr, nullptr));
    CHECK(call.wrong(1, 0, {"relu"}) == "");
    check_refused(call.run(&one, &one, relu, Tensor(), call.z.data()), miopenStatusNotInitialized, "zDesc");
}

TEST_CASE("MIOpen: a call that cannot be computed is refused, and nothing is written") {
    CallAtOnce call(fk::DataType::float32);
    float const one = 1, zero = 0;
    double const wide = 1;
    auto const relu = activation(miopenActivationRELU);
    check_refused(call.run(&zero, &one, relu), miopenStatusBadParm, "alpha1: expected a float other than 0");
    check_refused(call.run(&wide, &one, relu), miopenStatusBadParm, "if it points to a double, pass a float");
    check_refused(call.run(&one, &one, Activation()), miopenStatusNotInitialized, "activationDesc");
    check_refused(call.run(&one, &one, relu, call.z.descriptor, nullptr), miopenStatusBadParm,
                  "z: expected a pointer, got null");
    check_refused(call.run(&one, &one, relu, nullptr, call.z.data()), miopenStatusBadParm, "zDesc: expected a tensor");
    check_refused(call.run(&one, &one, relu, call.x.descriptor, call.z.data()), miopenStatusBadParm,
                  "zDesc: expected 2 x 3 x 3 x 5 with 1 in any mode, got 2 x 4 x 5 x 7");
    check_refused(call.run(&one, &one, relu, call.y.descriptor, static_cast<float*>(call.y.data()) + 1),
                  miopenStatusBadParm, "Residual.z");
    call.conv = convolution(1);
    check_refused(call.run(&one, &one, relu), miopenStatusBadParm, "yDesc: expected 2 x 3 x 5 x 7, got 2 x 3 x 3 x 5");
    call.conv = convolution();
    call.bias.descriptor = tensor({1, 4, 1, 1});
    check_refused(call.run(&one, &one, relu), miopenStatusBadParm,
                  "biasDesc: expected 2 x 3 x 3 x 5 with 1 in any mode, got 1 x 4 x 1 x 1");
    CHECK(call.y.memory.fetch().untouched(true));
}
