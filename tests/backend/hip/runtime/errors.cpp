// SPDX-License-Identifier: MIT
// Cases that only the emulator can produce: machines without a device, and failing calls.
#include <string>
#include <vector>

#include "backend/hip/gpu.hpp"
#include "hip_on_cpu/control.hpp"

using namespace test;
using hip_on_cpu::fail_next;

namespace {

using Conv = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Activation<fk::Abs>>;

}  // namespace

TEST_CASE("without a device, Device is refused with HIP's message and the device count is 0") {
    hip_on_cpu::set_devices(0);
    CHECK(fk::hip::device_count() == 0);
    CHECK(refusal([] { fk::hip::Device device; }) ==
          "hip::Device: device 0.hipGetDeviceCount: expected a GPU, got hipErrorNoDevice, no ROCm-capable device is "
          "detected");
    CHECK(hipGetLastError() == hipSuccess);
    hip_on_cpu::set_devices(2);
    CHECK(fk::hip::device_count() == 2);
    fk::hip::Device device;
    CHECK(works(device));
}

TEST_CASE("a driver that is too old is refused with both versions") {
    fail_next("hipGetDeviceCount", hipErrorInsufficientDriver);
    CHECK(fk::hip::device_count() == 0);
    fail_next("hipGetDeviceCount", hipErrorInsufficientDriver);
    std::string const text = refusal([] { fk::hip::Device device; });
    CHECK(text.find("a driver for version") != text.npos);
    CHECK(text.find("hipErrorInsufficientDriver") != text.npos);
    CHECK(hipGetLastError() == hipSuccess);
}

TEST_CASE("a failing HIP call is named in the error, leaks nothing, and the next call succeeds") {
    long const objects = hip_on_cpu::live_objects();
    {
        fk::hip::Device device;
        auto const x = fk::tensor<float>(device, fk::nchw(1, 2, 1, 1), {-1, 2});
        auto const w = fk::tensor<float>(device, fk::kcrs(2, 2, 1, 1), {1, 0, 0, 1});
        auto y = fk::tensor<float>(device, fk::nchw(1, 2, 1, 1), {7, 7});
        auto const layer = Conv::bind({.weights = w}, {});
        std::vector<float> host(2);
        auto const check = [&](char const* call, hipError_t error, auto action) {
            INFO(call);
            fail_next(call, error);
            std::string const text = refusal(action);
            INFO(text);
            CHECK(text.find(call) != text.npos);
            CHECK(text.find(std::string(hipGetErrorName(error)) + ", " + hipGetErrorString(error)) != text.npos);
            CHECK(hipGetLastError() == hipSuccess);
            CHECK(works(device));
        };
        for (char const* call :
             {"hipGetDeviceCount", "hipGetDevice", "hipGetDeviceProperties", "hipStreamCreateWithFlags"})
            check(call, hipErrorUnknown, [] { fk::hip::Device another; });
        check("hipSetDevice", hipErrorUnknown, [] { fk::hip::Device another(1); });
        check("hipMallocAsync", hipErrorOutOfMemory, [&] { (void)layer(device, x); });
        check("hipMalloc", hipErrorOutOfMemory, [&] { Floats(device, x.layout()); });
        check("hipMalloc", hipErrorOutOfMemory, [] { fk::hip::Device another; });
        check("hipMemsetAsync", hipErrorUnknown, [] { fk::hip::Device another; });
        check("hipMemcpyAsync", hipErrorUnknown, [&] { x.copy_to(host.data()); });
        check("hipStreamSynchronize", hipErrorLaunchFailure, [&] { y.copy_from(host.data()); });
        check("hipStreamSynchronize", hipErrorIllegalAddress, [&] { device.synchronize(); });
        y.copy_from(std::vector<float>{7, 7}.data());
        for (hipError_t error : {hipErrorInvalidConfiguration, hipErrorNoBinaryForGpu, hipErrorInvalidDeviceFunction,
                                 hipErrorLaunchFailure, hipErrorIllegalAddress}) {
            check("hipLaunchKernel", error, [&] { layer(device, x, y); });
            fail_next("hipLaunchKernel", error);
            CHECK(refusal([&] { layer(device, x, y); }).starts_with("Plan<Conv<filter(1, 1)>, Activation<Abs>>: "));
        }
        y.copy_to(host.data());
        CHECK(host == std::vector<float>{7, 7});
        layer(device, x, y);
        y.copy_to(host.data());
        CHECK(host == std::vector<float>{1, 2});
    }
    CHECK(hip_on_cpu::live_objects() == objects);
}

TEST_CASE("a device without compiled code is refused with the architecture to compile for") {
    fk::hip::Device device;
    auto const x = fk::tensor<float>(device, fk::nchw(1, 1, 1, 1), {-1});
    fail_next("hipLaunchKernel", hipErrorNoBinaryForGpu);
    std::string const text = refusal([&] { (void)Abs::bind({})(device, x); });
    CHECK(text.find("expected code for CPU, waves of") != text.npos);
    CHECK(text.find("compile for it") != text.npos);
}

TEST_CASE("an error keeps HIP's code, and is returned without exceptions") {
    fk::hip::Device device;
    auto const x = fk::tensor<float>(device, fk::nchw(1, 1, 1, 1), {-1});
    auto y = fk::tensor<float>(device, fk::nchw(1, 1, 1, 1), {7});
    auto const run = Abs::bind({}).prepare(device, x, y);
    for (char const* call : {"hipGetDevice", "hipLaunchKernel"})
        for (hipError_t const error : {hipErrorUnknown, hipErrorLaunchFailure}) {
            fail_next(call, error);
            fk::Refusal const refusal = run.try_run(device, x, y);
            REQUIRE(refusal);
            CHECK(refusal->code == error);
            CHECK(refusal->argument == call);
            CHECK(hipGetLastError() == hipSuccess);
        }
    fk::Tensor<float, fk::hip::Device> z(device, x.layout());
    fail_next("hipPointerGetAttributes", hipErrorLaunchFailure);
    fk::Refusal const refusal = run.try_run(device, x, z);
    REQUIRE(refusal);
    CHECK(refusal->code == hipErrorLaunchFailure);
    CHECK(numbers(y) == std::vector<float>{7});
    CHECK(!run.try_run(device, x, y));
    CHECK(numbers(y) == std::vector<float>{1});
    int code = 0;
    try {
        device.allocate(std::size_t{1} << 50);
    } catch (fk::Error const& error) {
        code = error.code;
    }
    CHECK(code == hipErrorOutOfMemory);
    CHECK(fk::Refusal(fk::Error("plan", "operator", "argument", "expected", "given"))->code == 0);
}

TEST_CASE("an earlier kernel's error is not attributed to the plan that observes it") {
    fk::hip::Device device;
    auto const x = fk::tensor<float>(device, fk::nchw(1, 1, 1, 1), {-1});
    fail_next("hipLaunchKernel", hipErrorIllegalAddress);
    CHECK(refusal([&] { (void)Abs::bind({})(device, x); }).find("work before this call") != std::string::npos);
    CHECK(works(device));
}

TEST_CASE("after a sticky device error every call reports it, and destructors do not throw") {
    long const objects = hip_on_cpu::live_objects();
    {
        fk::hip::Device device;
        auto const x = fk::tensor<float>(device, fk::nchw(1, 1, 1, 1), {-1});
        auto y = fk::tensor<float>(device, fk::nchw(1, 1, 1, 1), {7});
        hip_on_cpu::fail_always(hipErrorIllegalAddress);
        CHECK(refusal([&] { Abs::bind({})(device, x, y); }).find("illegal") != std::string::npos);
        CHECK(refusal([&] { device.synchronize(); }).find("hipErrorIllegalAddress") != std::string::npos);
        CHECK(refusal([&] { device.allocate(4); }).find("hipErrorIllegalAddress") != std::string::npos);
        CHECK(refusal([&] { fk::hip::Device another; }).find("hipErrorIllegalAddress") != std::string::npos);
        CHECK(fk::hip::device_count() == 0);
        {
            fk::hip::Device const gone(std::move(device));
        }
        hip_on_cpu::fail_always(hipSuccess);
    }
    CHECK(hip_on_cpu::live_objects() == objects);
    fk::hip::Device device;
    CHECK(works(device));
}

TEST_CASE("a run is one launch, and no allocation, wait or copy") {
    fk::hip::Device device;
    auto const x = fk::random<float>(device, fk::nchw(2, 5, 9, 9)), w = fk::random<float>(device, fk::kcrs(7, 5, 1, 1));
    auto const layer = Conv::bind({.weights = w}, {});
    auto y = layer(device, x);
    auto const count = [] {
        long waits = 0;
        for (char const* call :
             {"hipMalloc", "hipFree", "hipMemcpy", "hipMemcpyAsync", "hipMemset", "hipMemsetAsync",
              "hipStreamSynchronize", "hipDeviceSynchronize", "hipGetDeviceProperties", "hipEventRecord"})
            waits += hip_on_cpu::calls(call);
        return std::pair(waits, hip_on_cpu::calls("hipLaunchKernel"));
    };
    auto const before = count();
    for (int i = 0; i < 10; ++i) layer(device, x, y);
    auto const after = count();
    CHECK(after.first == before.first);
    CHECK(after.second == before.second + 10);
}
