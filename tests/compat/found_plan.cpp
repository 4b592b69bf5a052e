// SPDX-License-Identifier: MIT
//
// The backend that runs a sequence: plans compiled at run time and ready-made ones. Both backends are of this file, and
// record the calls that they get. The stream is one of the fake driver of tests/jit.
#include <catch2/catch_test_macros.hpp>
#include <utility>
#include <vector>

#include "backend.hpp"
#include "compat/fake/layer.hpp"

using namespace test::miopen;
namespace c = fusekit::runtime::c;
namespace rt = fusekit::runtime;
using fusekit::Error;
using fusekit::Refusal;
using fusekit::Result;

namespace {

/// Answers of a backend.
struct Backend {
    char const* name;
    std::size_t workspace_bytes;
    bool is_there = true, has_plan = true, has_device = true;
    /// Operator names of the errors of compile() and prepare(); null for success.
    char const *compile = nullptr, *prepare = nullptr;
    bool is_loaded = true;  ///< false: a run that may not be compiled is refused
    int status_of_run = 0;
};
Backend const usual_jit = {"jit", 128}, usual_ready = {"ready", 256};
Backend jit = usual_jit, ready = usual_ready;
std::vector<std::string> calls;

using Calls = std::vector<std::string>;
Calls take() { return std::exchange(calls, {}); }
void note(Backend const& of, char const* call) { calls.push_back(std::string(of.name) + call); }

/// Sets the answers for one test.
struct Answers {
    Answers() { jit = usual_jit, ready = usual_ready, calls.clear(); }
    Answers(Answers const&) = delete;
    Answers& operator=(Answers const&) = delete;
    ~Answers() { jit = usual_jit, ready = usual_ready; }
};

Refusal refused_by(char const* operator_name, Backend const& of) {
    if (!operator_name) return {};
    return Error("a plan", operator_name, "", "something", of.name);
}

struct Device final : c::DeviceObject {
    using DeviceObject::DeviceObject;
    void synchronize() override {}
};

struct Run final : c::RunObject {
    Backend const& of;

    Run(c::Backend const& backend, Backend const& the_backend) : RunObject(backend), of(the_backend) {}
    std::size_t workspace_bytes() const override { return of.workspace_bytes; }
    Refusal execute(c::RunTarget const& target, void const*, void*) const override {
        note(of, " run");
        REQUIRE(&target.device.backend == &backend);
        REQUIRE(target.stream != nullptr);
        REQUIRE(target.workspace.bytes >= of.workspace_bytes);
        if (of.status_of_run) return Error("a plan", "launch", "", "success", "a status", of.status_of_run);
        return {};
    }
};

struct SomePlan final : c::PlanObject {
    Backend const& of;
    int count;

    SomePlan(c::Backend const& backend, Backend const& the_backend, int the_count)
        : PlanObject(backend), of(the_backend), count(the_count) {}
    int size() const override { return count; }
    fusekit::Text name() const override { return of.name; }
    Result<fusekit::Index<4>> output_shape(rt::ArgumentList, rt::View const&) const override { std::abort(); }
    Result<std::size_t> workspace_bytes(c::DeviceObject&, rt::ArgumentList, rt::View const&,
                                        rt::View const&) const override {
        std::abort();
    }
    Result<std::size_t> compile(c::DeviceObject& device, rt::ArgumentList arguments, rt::View const&, rt::View const&,
                                c::Compile how) const override {
        note(of, how == c::Compile::never ? " compile in capture" : " compile");
        REQUIRE((&device.backend == &backend && arguments.size == count));
        if (Refusal refusal = refused_by(of.compile, of)) return *refusal;
        return of.workspace_bytes;
    }
    Refusal prepare(c::DeviceObject& device, rt::ArgumentList arguments, rt::View const&, rt::View const&, int,
                    c::Compile how, std::unique_ptr<c::RunObject>& run) const override {
        bool const in_capture = how == c::Compile::never;
        note(of, in_capture ? " prepare in capture" : " prepare");
        REQUIRE((&device.backend == &backend && arguments.size == count));
        if (in_capture && !of.is_loaded) return refused_by(c::compiler_name, of);
        if (Refusal refusal = refused_by(of.prepare, of)) return refusal;
        run = std::make_unique<Run>(backend, of);
        return {};
    }
    Refusal execute(c::RunTarget const&, rt::ArgumentList, rt::View const&, rt::View const&) const override {
        std::abort();
    }
};

/// Functions that both kinds of backend have.
template <class Base>
struct Fake : Base {
    Backend const& of;

    explicit Fake(Backend const& the_backend) : of(the_backend) {}
    std::unique_ptr<c::DeviceObject> create(int) const override {
        if (!of.has_device) throw Error(of.name, "device", "index", "a GPU with plans", "another");
        return std::make_unique<Device>(*this);
    }
    std::unique_ptr<c::PlanObject> find(rt::Descriptors operators, rt::Types) const override {
        note(of, " find");
        return of.has_plan ? std::make_unique<SomePlan>(*this, of, operators.size) : nullptr;
    }
    rt::Explanation explain(rt::Descriptors, rt::Types const*) const override {
        rt::Explanation why;
        if (!of.has_plan) why.reason = rt::Explanation::no_plan, why.expected = of.name;
        return why;
    }
    rt::detail::FormList forms() const override { std::abort(); }
};
struct FakeJit final : Fake<c::JitBackend> {
    using Fake::Fake;
    Refusal add_operator(char const*, char const*, std::int32_t&) const override { std::abort(); }
    void use_disk_cache(char const*, std::uint64_t) const override { std::abort(); }
    void count(std::uint64_t (&)[3]) const override { std::abort(); }
};

/// Backends whose devices are the usual ones, and others, because a process creates a device once.
Fake<c::Backend> const readies[] = {Fake<c::Backend>(ready), Fake<c::Backend>(ready)};
FakeJit const jits[] = {FakeJit(jit), FakeJit(jit)};
int selected = 0;

/// Plan of a sequence that no other test has: sequences are found once in a process.
struct OwnLayer : Layer {
    OwnLayer() : Layer("CBA", next()) {}
    static miopenActivationMode_t next() {
        static int number = 0;
        REQUIRE(number < miopenActivationELU);
        return static_cast<miopenActivationMode_t>(number++);
    }
};

}  // namespace

c::Backend const* c::gpu_backend() { return ready.is_there ? &readies[selected] : nullptr; }
c::JitBackend const* c::jit_backend() { return jit.is_there ? &jits[selected] : nullptr; }

TEST_CASE("MIOpen: a plan that is compiled at run time is compiled by miopenCompileFusionPlan, and runs") {
    Answers const answers;
    Handle const handle;
    OwnLayer layer;
    succeeds(layer.compile(handle));
    CHECK(take() == Calls{"jit find", "ready find", "jit compile"});
    std::size_t bytes = 0;
    succeeds(miopenFusionPlanGetWorkSpaceSize(handle, layer.plan, &bytes, miopenConvolutionFwdAlgoImplicitGEMM));
    CHECK(bytes == 128);
    succeeds(layer.run(handle));
    CHECK(take() == Calls{"jit prepare", "jit run"});
    succeeds(layer.run(handle));
    CHECK(take() == Calls{"jit run"});
    succeeds(layer.compile(handle));
    CHECK(take() == Calls{"jit compile"});
}

TEST_CASE("MIOpen: a sequence that one backend has is the other's") {
    Answers const answers;
    Handle const handle;
    SECTION("ready-made") {
        jit.has_plan = false;
        OwnLayer layer;
        succeeds(layer.compile(handle));
        succeeds(layer.run(handle));
        CHECK(take() == Calls{"jit find", "ready find", "ready compile", "ready prepare", "ready run"});
    }
    SECTION("compiled at run time") {
        ready.has_plan = false;
        OwnLayer layer;
        succeeds(layer.compile(handle));
        succeeds(layer.run(handle));
        CHECK(take() == Calls{"jit find", "ready find", "jit compile", "jit prepare", "jit run"});
    }
    SECTION("neither: the reason is that of the ready-made plans") {
        jit.has_plan = ready.has_plan = false;
        Layer layer("");
        miopenFusionOpDescriptor_t op = nullptr;
        check_refused(miopenCreateOpActivationForward(layer.plan, &op, miopenActivationRELU), miopenStatusUnsupportedOp,
                      "expected ready");
        check_refused(layer.run_at_once(handle, miopenActivationELU), miopenStatusUnsupportedOp, "expected ready");
        ready.is_there = false;
        check_refused(miopenCreateOpActivationForward(layer.plan, &op, miopenActivationRELU), miopenStatusUnsupportedOp,
                      "expected jit");
    }
}

TEST_CASE("MIOpen: after a kernel that does not compile the ready-made plan runs, and no compilation is tried again") {
    Answers const answers;
    Handle const handle;
    OwnLayer layer;
    jit.compile = c::compiler_name;
    succeeds(layer.compile(handle));
    CHECK(take() == Calls{"jit find", "ready find", "jit compile", "ready compile"});
    std::size_t bytes = 0;
    succeeds(miopenFusionPlanGetWorkSpaceSize(handle, layer.plan, &bytes, miopenConvolutionFwdAlgoImplicitGEMM));
    CHECK(bytes == 256);
    succeeds(layer.run(handle));
    succeeds(layer.compile(handle));
    CHECK(take() == Calls{"ready prepare", "ready run", "ready compile"});
}

TEST_CASE("MIOpen: a kernel that does not compile and has no ready-made plan is refused, and is tried again") {
    Answers const answers;
    Handle const handle;
    OwnLayer layer;
    ready.has_plan = false;
    jit.compile = jit.prepare = c::compiler_name;
    for (int i = 0; i < 2; ++i)
        check_refused(layer.compile(handle), miopenStatusUnsupportedOp,
                      "a plan: compiler: expected something, got jit");
    CHECK(take() == Calls{"jit find", "ready find", "jit compile", "jit compile"});
    jit.compile = nullptr;
    succeeds(layer.compile(handle));
    check_refused(layer.run(handle), miopenStatusUnsupportedOp, "compiler: expected something, got jit");
    jit.prepare = nullptr;
    succeeds(layer.run(handle));
}

TEST_CASE("MIOpen: arguments that a plan compiled at run time refuses are the ready-made plan's") {
    Answers const answers;
    Handle const handle;
    OwnLayer layer;
    jit.compile = jit.prepare = "Bias";
    succeeds(layer.compile(handle));
    succeeds(layer.run(handle));
    CHECK(take() ==
          Calls{"jit find", "ready find", "jit compile", "ready compile", "jit prepare", "ready prepare", "ready run"});
    ready.prepare = "Conv", ready.compile = "Conv";
    check_refused(layer.compile(handle), miopenStatusUnsupportedOp, "a plan: Conv: expected something, got ready");
    succeeds(layer.run(handle));  // as it was prepared
    check_refused(layer.run(handle, 2), miopenStatusBadParm, "a plan: Conv: expected something, got ready");
    CHECK(layer.y_is_untouched());
}

TEST_CASE("MIOpen: a call at once finds its plans once") {
    Answers const answers;
    Handle const handle;
    Layer layer("");
    jit.prepare = c::compiler_name;
    for (int i = 0; i < 2; ++i) succeeds(layer.run_at_once(handle, miopenActivationCLAMP));
    CHECK(take() ==
          Calls{"jit find", "ready find", "jit prepare", "ready prepare", "ready run", "ready prepare", "ready run"});
}

TEST_CASE("MIOpen: while a stream is captured nothing is compiled") {
    Answers const answers;
    Handle const handle, captured(0xca);
    OwnLayer layer;
    jit.is_loaded = false;
    succeeds(layer.compile(captured));
    succeeds(layer.run(captured));
    CHECK(take() == Calls{"jit find", "ready find", "jit compile in capture", "jit prepare in capture", "ready prepare",
                          "ready run"});
    succeeds(layer.compile(handle));
    succeeds(layer.run(handle));  // its kernel is still to be compiled
    CHECK(take() == Calls{"jit compile", "jit prepare", "jit run"});
}

TEST_CASE("MIOpen: a status of the driver is an internal error, whichever backend runs") {
    Answers const answers;
    Handle const handle;
    OwnLayer layer;
    succeeds(layer.compile(handle));
    succeeds(layer.run(handle));
    jit.status_of_run = 719;
    check_refused(layer.run(handle), miopenStatusInternalError, "launch: expected success");
    jit.status_of_run = 2;
    check_refused(layer.run(handle), miopenStatusAllocFailed, "launch: expected success");
}

TEST_CASE("MIOpen: a GPU for which plans are not compiled has the ready-made ones, or no handle") {
    Answers const answers;
    selected = 1;
    jit.has_device = false;
    miopenHandle_t none = nullptr;
    ready.is_there = false;
    check_refused(miopenCreate(&none), miopenStatusNotImplemented, "jit: device.index: expected a GPU with plans");
    CHECK(none == nullptr);
    ready.is_there = true;
    {
        Handle const handle;
        OwnLayer layer;
        succeeds(layer.compile(handle));
        succeeds(layer.run(handle));
        CHECK(take() == Calls{"ready find", "ready compile", "ready prepare", "ready run"});
    }
    selected = 0;
}
