// SPDX-License-Identifier: MIT
//
// The drop-in whose plans are compiled at run time (fusekit::miopen_jit), over the fake driver and the fake compiler of
// tests/jit: kernels that are compiled and launched. On a GPU, fusekit_compat_jit_gpu compares results.
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>

#include "compat/fake/layer.hpp"

using namespace test::miopen;

namespace {

std::atomic<int>& compiler(char const* name) { return variable<std::atomic<int>>("libnvrtc.so.13", name); }
/// Number of compilations that were begun.
int compilations() { return compiler("fake_compiler_begun"); }

/// Lets compilations succeed, or fail. There is no disk cache.
void set_compiler(bool works) {
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    compiler("fake_compiler_works") = works;
}

}  // namespace

TEST_CASE("MIOpen jit: miopenCompileFusionPlan compiles a plan's kernel, and Execute none") {
    set_compiler(true);
    Handle const handle;
    for (char const* const letters : {"C", "CA", "CB", "CBA", "CN", "CNA", "CBN", "CBNA", "N", "NA", "T", "TA", "GH"}) {
        INFO(letters);
        Layer layer(letters, miopenActivationTANH);
        int const before = compilations();
        unsigned const launched = launches();
        succeeds(layer.compile(handle));
        CHECK(compilations() == before + 1);
        CHECK(launches() == launched);
        std::size_t bytes = 1;
        succeeds(miopenFusionPlanGetWorkSpaceSize(handle, layer.plan, &bytes, miopenConvolutionFwdAlgoImplicitGEMM));
        for (int i = 0; i < 3; ++i) succeeds(layer.run(handle));
        CHECK(launches() == launched + 3);
        Layer same(letters, miopenActivationTANH);
        succeeds(same.compile(handle));
        succeeds(same.run(handle));
        CHECK(compilations() == before + 1);
    }
}

TEST_CASE("MIOpen jit: a call at once compiles its kernel, and the next such call finds it") {
    set_compiler(true);
    Handle const handle;
    Layer layer("C");
    int const before = compilations();
    unsigned const launched = launches();
    for (int i = 0; i < 3; ++i) {
        succeeds(layer.run_at_once(handle, miopenActivationCLIPPEDRELU));
        CHECK(compilations() == before + 1);
        CHECK(launches() == launched + 1 + static_cast<unsigned>(i));
    }
}

TEST_CASE("MIOpen jit: addresses that are not multiples of 16 bytes have a kernel of their own") {
    set_compiler(true);
    Handle const handle, captured(0xca);
    Layer layer("CA", miopenActivationSOFTRELU);
    succeeds(layer.compile(handle));
    succeeds(layer.compile(captured));
    int const before = compilations();
    unsigned const launched = launches();
    check_refused(layer.run(captured, 2), miopenStatusUnsupportedOp, "during capture");
    CHECK(compilations() == before);
    CHECK(launches() == launched);
    for (int i = 0; i < 2; ++i) succeeds(layer.run(handle, 2));
    CHECK(compilations() == before + 1);
    CHECK(launches() == launched + 2);
    succeeds(layer.run(captured, 2));
}

TEST_CASE("MIOpen jit: a kernel that does not compile is an unsupported operator, and y is unchanged") {
    set_compiler(false);
    Handle const handle;
    Layer layer("CBA", miopenActivationLOGISTIC);
    unsigned const launched = launches();
    check_refused(
        layer.compile(handle), miopenStatusUnsupportedOp,
        "Plan<Conv<filter(3, 3).pad(1)>, Bias, Activation<Logistic>>: compiler: expected a unit that compiles, "
        "got a fake error");
    check_refused(layer.run(handle), miopenStatusBadParm, "fusePlanDesc: expected a plan that was compiled");
    check_refused(layer.run_at_once(handle, miopenActivationLOGISTIC), miopenStatusUnsupportedOp, "got a fake error");
    CHECK(launches() == launched);
    CHECK(layer.y_is_untouched());
    set_compiler(true);
    succeeds(layer.compile(handle));
    succeeds(layer.run(handle));
}

TEST_CASE("MIOpen jit: FUSEKIT_JIT=0 compiles nothing") {
    set_compiler(true);
    Handle const handle;
    Layer layer("CBA", miopenActivationELU);
    setenv("FUSEKIT_JIT", "0", 1);
    int const before = compilations();
    check_refused(layer.compile(handle), miopenStatusUnsupportedOp,
                  "compiler: expected leave to compile, got FUSEKIT_JIT=0");
    CHECK(compilations() == before);
    unsetenv("FUSEKIT_JIT");
    succeeds(layer.compile(handle));
}

TEST_CASE("MIOpen jit: a captured stream runs a compiled plan, and compiles none") {
    set_compiler(true);
    Handle const handle, captured(0xca);
    Layer layer("CBA", miopenActivationPOWER), late("CBA", miopenActivationABS);
    check_refused(late.compile(captured), miopenStatusUnsupportedOp,
                  "a plan that was prepared before its stream is captured");
    check_refused(late.run_at_once(captured, miopenActivationABS), miopenStatusUnsupportedOp, "during capture");
    succeeds(layer.compile(handle));
    int const before = compilations();
    unsigned const launched = launches();
    succeeds(layer.compile(captured));
    succeeds(layer.run(captured));
    CHECK(compilations() == before);
    CHECK(launches() == launched + 1);
}

TEST_CASE("MIOpen jit: tensors of a prepared run that overlap are refused, with the operator's name") {
    set_compiler(true);
    Handle const handle;
    Layer layer("C");
    unsigned const launched = launches();
    check_refused(layer.run_at_once(handle, miopenActivationPASTHRU, layer.y + 2), miopenStatusBadParm,
                  "Residual.z: expected memory apart from the output's, or the output itself");
    CHECK(launches() == launched);
    CHECK(layer.y_is_untouched());
    succeeds(layer.run_at_once(handle, miopenActivationPASTHRU, layer.y));
    CHECK(launches() == launched + 1);
}

TEST_CASE("MIOpen jit: operators without a plan are refused when they are added") {
    Handle const handle;
    Layer layer("");
    miopenFusionOpDescriptor_t none = nullptr;
    Layer backward("G");
    check_refused(miopenCreateOpActivationForward(backward.plan, &none, miopenActivationRELU),
                  miopenStatusUnsupportedOp, "expected an operator of a gradient that is compiled at run time");
    succeeds(miopenCreateOpActivationForward(layer.plan, &none, miopenActivationRELU));
    check_refused(miopenCreateOpBiasForward(layer.plan, &none, layer.channels), miopenStatusUnsupportedOp,
                  "Bias shifts the accumulator, so it stands before BatchNorm and Activation");
    miopenFusionPlanDescriptor_t other = nullptr;
    check_refused(miopenCreateFusionPlan(&other, miopenVerticalFusion, tensor({1, 2, 3, 4}, miopenInt32)),
                  miopenStatusUnsupportedOp, "inputDesc: expected elements of float");
    Layer types("");
    auto const weights = channels_last({16, 16, 3, 3}, miopenBFloat16);
    succeeds(miopenCreateOpConvForward(types.plan, &none, convolution(1), weights));
    check_refused(types.compile(handle), miopenStatusUnsupportedOp, "types: expected float, half or bfloat16");
}

TEST_CASE("MIOpen jit: profiling has the time between two events of the driver") {
    set_compiler(true);
    Handle const handle, captured(0xca);
    Layer layer("CA");
    float milliseconds = -1;
    for (miopenHandle_t const each : {static_cast<miopenHandle_t>(handle), static_cast<miopenHandle_t>(captured)}) {
        succeeds(miopenEnableProfiling(each, true));
        succeeds(layer.compile(each));
        succeeds(layer.run(each));
        succeeds(miopenGetKernelTime(each, &milliseconds));
        CHECK(milliseconds == (each == captured ? 0 : 0.5f));
    }
}

// Hidden: it runs with a libnvrtc.so.13 that has no functions.
TEST_CASE("MIOpen jit: without a compiler a plan is refused when it is compiled", "[.no_compiler]") {
    Handle const handle;
    Layer layer("CBA");
    check_refused(
        layer.compile(handle), miopenStatusUnsupportedOp,
        "compiler: expected NVIDIA's run-time compiler, libnvrtc.so.13, got a libnvrtc without its functions");
    check_refused(layer.run_at_once(handle, miopenActivationRELU), miopenStatusUnsupportedOp, "libnvrtc.so.13");
    CHECK(layer.y_is_untouched());
}
