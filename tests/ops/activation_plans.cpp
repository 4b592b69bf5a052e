// SPDX-License-Identifier: MIT
// Activations in plans. activation.cpp, which compares millions of values, is optimised; these plans need not be.
#include "support/activation_plans.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "support/catalogue.hpp"

using namespace test;

TEST_CASE("elementary functions run in operators of users") {
    fk::host::Device device(2);
    CHECK(test::wrong_values_of_functions(device) == 0);
}

TEMPLATE_LIST_TEST_CASE("every activation runs as a one-operator plan", "", catalogue::Modes) {
    fk::host::Device device(2);
    CHECK(test::wrong_values_of_activation<TestType>(device) == 0);
}
