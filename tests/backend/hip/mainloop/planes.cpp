// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/planes.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <string>

#include "backend/hip/sm90a_device.hpp"
#include "support/check_case.hpp"
#include "support/run_case.hpp"

using namespace test;
using fusekit::hip::Planes;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;
using PerActivation = fk::BatchNormInference<fk::PerActivation>;

template <class T, class Schedule>
void check_schedule(std::string const& type) {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<Schedule>();
    using Scheduled = decltype(scheduled);
    for (char const* sizes : {"n1c8h1w2k8r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs"}) {
        std::string const text = sizes + (" " + type);
        INFO(text);
        check_case(Case::parse(text + " CBA relu #3"), run_conv<Scheduled, T, fk::dynamic, fk::Bias, Relu>, scheduled);
    }
}

}  // namespace

TEMPLATE_TEST_CASE("HIP: convolutions of planes on sm_90a's matrix units are exact", "", (Planes<232, 1>),
                   (Planes<64, 2>)) {
    check_schedule<fk::half, TestType>("half");
}
