// SPDX-License-Identifier: MIT
// Cases that need the emulator: no GPU, and injected errors.
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>

#include "compat/refused.hpp"
#include "compat/small_plan.hpp"
#include "hip_on_cpu/control.hpp"

using namespace test::miopen;
using namespace test;

namespace {

/// A batch norm in training whose runs use workspace: no cluster computes sums over float planes of an odd size.
struct Training {
    DeviceTensor x{fk::DataType::float32, fk::nchw(8, 1, 31, 33), std::vector<double>(8 * 31 * 33, 1)},
        y{fk::DataType::float32, fk::nchw(8, 1, 31, 33)}, one{fk::DataType::float32, fk::nchw(1, 1, 1, 1), {1}};
    Plan plan{x.descriptor};
    Arguments args;

    Training() {
        miopenFusionOpDescriptor_t norm;
        succeeds(miopenCreateOpBatchNormForward(plan, &norm, miopenBNSpatial, false));
        succeeds(miopenSetOpArgsBatchNormForward(args, norm, nullptr, nullptr, one.data(), one.data(), nullptr, nullptr,
                                                 nullptr, nullptr, 0, 1));
    }
    miopenStatus_t run(miopenHandle_t handle) {
        succeeds(miopenCompileFusionPlan(handle, plan));
        return miopenExecuteFusionPlan(handle, plan, x.descriptor, x.data(), y.descriptor, y.data(), args);
    }
    std::string wrong() {
        oracle::Tensor expected({8, 1, 31, 33});  // every value equals its mean: the shift
        for (auto& each : expected.at) each.value = 1;
        return difference(expected, y.memory.fetch());
    }
};

int allocations = 0, releases = 0;

}  // namespace

TEST_CASE("MIOpen: without a GPU no handle is created, and HIP's message says why") {
    miopenHandle_t handle = nullptr;
    hip_on_cpu::set_devices(0);
    check_refused(miopenCreate(&handle), miopenStatusInternalError, "hipErrorNoDevice");
    hip_on_cpu::set_devices(2);
    CHECK(handle == nullptr);
}

TEST_CASE("MIOpen: a device error is an internal error, and the next run succeeds") {
    SmallPlan small;
    small.compile();
    hip_on_cpu::fail_next("hipLaunchKernel", hipErrorLaunchFailure);
    check_refused(small.run(), miopenStatusInternalError, "hipErrorLaunchFailure");
    CHECK(small.untouched());
    succeeds(small.run());
    CHECK(small.wrong() == "");
}

TEST_CASE("MIOpen: a handle's workspace is allocated once, by its own allocator, and freed with it") {
    Training training;
    {
        Session const handle;
        hip_on_cpu::fail_next("hipMalloc", hipErrorOutOfMemory);
        check_refused(training.run(handle), miopenStatusAllocFailed, "hipErrorOutOfMemory");
        CHECK(training.y.memory.fetch().untouched(true));
        long const before = hip_on_cpu::calls("hipMalloc");
        for (int i = 0; i < 3; ++i) succeeds(training.run(handle));
        CHECK(hip_on_cpu::calls("hipMalloc") == before + 1);
        CHECK(training.wrong() == "");
    }
    Session const handle;
    auto const release = [](void*, void* memory) { ++releases, static_cast<void>(hipFree(memory)); };
    succeeds(miopenSetAllocator(handle, [](void*, std::size_t) -> void* { return nullptr; }, release, nullptr));
    check_refused(training.run(handle), miopenStatusAllocFailed, "the handle's allocator returned null");
    auto const allocate = [](void* context, std::size_t bytes) -> void* {
        ++*static_cast<int*>(context);
        void* memory = nullptr;
        return hipMalloc(&memory, bytes) == hipSuccess ? memory : nullptr;
    };
    {
        Session own;
        succeeds(miopenSetAllocator(own, allocate, release, &allocations));
        for (int i = 0; i < 2; ++i) succeeds(training.run(own));
        CHECK((allocations == 1 && releases == 0));
        CHECK(training.wrong() == "");
    }
    CHECK(releases == 1);
}

TEST_CASE("MIOpen: each stream of a handle has workspace of its own, and runs go to the stream that was set") {
    Training training;
    Session const handle;
    hipStream_t streams[2];
    for (hipStream_t& stream : streams) REQUIRE(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking) == hipSuccess);
    long const before = hip_on_cpu::calls("hipMalloc");
    for (int i = 0; i < 4; ++i) {
        succeeds(miopenSetStream(handle, streams[i % 2]));
        miopenAcceleratorQueue_t given = nullptr;
        succeeds(miopenGetStream(handle, &given));
        CHECK(given == streams[i % 2]);
        succeeds(training.run(handle));
        CHECK(hipStreamSynchronize(streams[i % 2]) == hipSuccess);  // nothing has run before it
        CHECK(training.wrong() == "");
    }
    CHECK(hip_on_cpu::calls("hipMalloc") == before + 2);
    for (hipStream_t stream : streams) CHECK(hipStreamDestroy(stream) == hipSuccess);
}

TEST_CASE("MIOpen: a run with profiling synchronizes and destroys its events, and does neither in a capture") {
    SmallPlan small;
    Session const handle;
    hipStream_t stream;
    REQUIRE(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking) == hipSuccess);
    succeeds(miopenSetStream(handle, stream));
    succeeds(miopenEnableProfiling(handle, true));
    small.compile(handle);
    succeeds(small.run(handle));
    long const before = hip_on_cpu::live_objects();
    for (int i = 0; i < 2; ++i) succeeds(small.run(handle));
    CHECK(small.wrong() == "");  // without waiting for the stream
    for (char const* function : {"hipEventCreateWithFlags", "hipEventRecord"}) {
        hip_on_cpu::fail_next(function, hipErrorOutOfMemory);
        check_refused(small.run(handle), miopenStatusAllocFailed, "hipErrorOutOfMemory");
    }
    CHECK(hip_on_cpu::live_objects() == before);
    float milliseconds = 0;
    succeeds(miopenGetKernelTime(handle, &milliseconds));
    CHECK(milliseconds > 0);

    hipGraph_t graph;
    hipGraphExec_t executable;
    REQUIRE(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal) == hipSuccess);
    succeeds(small.run(handle));
    REQUIRE(hipStreamEndCapture(stream, &graph) == hipSuccess);
    succeeds(miopenGetKernelTime(handle, &milliseconds));
    CHECK(milliseconds == 0);
    REQUIRE(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0) == hipSuccess);
    REQUIRE(hipGraphLaunch(executable, stream) == hipSuccess);
    REQUIRE(hipStreamSynchronize(stream) == hipSuccess);
    CHECK(small.wrong() == "");
    CHECK(hipGraphExecDestroy(executable) == hipSuccess);
    CHECK(hipGraphDestroy(graph) == hipSuccess);
    CHECK(hipStreamDestroy(stream) == hipSuccess);
}
