// SPDX-License-Identifier: MIT
#include "fusekit/ops/batch_norm/inference.hpp"

#include "support/odd_variances.hpp"

using namespace test;

TEST_CASE("a negative variance gives NaN, others follow the equation") {
    fk::host::Device device(1);
    check_odd_variances<float, fk::Spatial>(device);
    check_odd_variances<float, fk::PerActivation>(device);
    check_odd_variances<double, fk::Spatial>(device);
    check_odd_variances<double, fk::PerActivation>(device);
}
