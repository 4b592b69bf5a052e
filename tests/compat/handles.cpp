// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "compat/owned.hpp"

using namespace test::miopen;

namespace {

std::string last() { return fusekitMiopenLastError(); }

template <class Handle>
Handle as(void* pointer) {
    return reinterpret_cast<Handle>(pointer);
}

}  // namespace

TEST_CASE("MIOpen: null, foreign, destroyed and other handles are distinguished, and not dereferenced") {
    Tensor const tensor;
    Session const session;
    int size = 0;
    CHECK(miopenGetTensorDescriptorSize(nullptr, &size) == miopenStatusBadParm);
    CHECK(last() == "miopenGetTensorDescriptorSize: tensorDesc: expected a tensor descriptor, got null");
    CHECK(miopenGetTensorDescriptorSize(as<miopenTensorDescriptor_t>(static_cast<miopenHandle_t>(session)), &size) ==
          miopenStatusBadParm);
    CHECK(last() == "miopenGetTensorDescriptorSize: tensorDesc: expected a tensor descriptor, got a handle");
    std::vector<char> memory(64);
    for (std::size_t i = 0; i < 17; ++i) {  // the last bytes of what ASan guards, at every alignment
        CHECK(miopenGetTensorDescriptorSize(as<miopenTensorDescriptor_t>(memory.data() + 48 + i), &size) ==
              miopenStatusBadParm);
        CHECK(last() ==
              "miopenGetTensorDescriptorSize: tensorDesc: expected a tensor descriptor, got a number that no call "
              "returned");
    }
    for (int bit = 0; bit < 64; ++bit) {
        auto const changed =
            reinterpret_cast<std::uint64_t>(static_cast<miopenTensorDescriptor_t>(tensor)) ^ 1ull << bit;
        CHECK(miopenGetTensorDescriptorSize(reinterpret_cast<miopenTensorDescriptor_t>(changed), &size) ==
              miopenStatusBadParm);
    }

    miopenTensorDescriptor_t gone;
    succeeds(miopenCreateTensorDescriptor(&gone));
    succeeds(miopenDestroyTensorDescriptor(gone));
    CHECK(miopenDestroyTensorDescriptor(gone) == miopenStatusBadParm);
    CHECK(last() ==
          "miopenDestroyTensorDescriptor: tensorDesc: expected a tensor descriptor, got one that was destroyed");
    Tensor const next;  // reuses the slot of the destroyed one
    CHECK(miopenDestroyTensorDescriptor(gone) == miopenStatusBadParm);
    CHECK(miopenCreateTensorDescriptor(nullptr) == miopenStatusBadParm);
    CHECK(last() == "miopenCreateTensorDescriptor: tensorDesc: expected a pointer, got null");
}

TEST_CASE("MIOpen: to destroy a null handle succeeds, as in destructors of wrappers that were moved from") {
    succeeds(miopenDestroy(nullptr));
    succeeds(miopenDestroyTensorDescriptor(nullptr));
    succeeds(miopenDestroyConvolutionDescriptor(nullptr));
    succeeds(miopenDestroyActivationDescriptor(nullptr));
    succeeds(miopenDestroyFusionPlan(nullptr));
    succeeds(miopenDestroyOperatorArgs(nullptr));
}

TEST_CASE("MIOpen: destroying a plan destroys its operators") {
    auto const x = tensor({1, 2, 3, 4});
    miopenFusionPlanDescriptor_t plan;
    miopenFusionOpDescriptor_t op;
    succeeds(miopenCreateFusionPlan(&plan, miopenVerticalFusion, x));
    succeeds(miopenCreateOpConvForward(plan, &op, convolution(), tensor({2, 2, 1, 1})));
    Arguments const args;
    float weights[4] = {};
    succeeds(miopenSetOpArgsConvForward(args, op, nullptr, nullptr, weights));
    succeeds(miopenDestroyFusionPlan(plan));
    CHECK(miopenSetOpArgsConvForward(args, op, nullptr, nullptr, weights) == miopenStatusBadParm);
    CHECK(last() == "miopenSetOpArgsConvForward: convOp: expected an operator, got one that was destroyed");
    CHECK(miopenFusionPlanGetOp(plan, 0, &op) == miopenStatusBadParm);
}

TEST_CASE("MIOpen: each thread has its own last message") {
    CHECK(miopenSetStream(nullptr, nullptr) == miopenStatusBadParm);
    std::string other = "unset";
    std::thread([&] { other = fusekitMiopenLastError(); }).join();
    CHECK(other == "");
    CHECK(last() == "miopenSetStream: handle: expected a handle, got null");
    Session const session;
    CHECK(last() ==
          "miopenSetStream: handle: expected a handle, got null");  // a call that succeeds does not clear the message
}

TEST_CASE("MIOpen: threads create, use and destroy objects concurrently") {
    std::vector<std::thread> threads;
    std::vector<int> wrong(8);
    for (std::size_t t = 0; t < wrong.size(); ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 2000; ++i) {  // more than a chunk of handles
                miopenTensorDescriptor_t tensor = nullptr;
                int extent = static_cast<int>(t) + 1, given = 0;
                wrong[t] += miopenCreateTensorDescriptor(&tensor) != miopenStatusSuccess;
                wrong[t] += miopenSetTensorDescriptor(tensor, miopenFloat, 1, &extent, nullptr) != miopenStatusSuccess;
                wrong[t] += miopenGetTensorDescriptor(tensor, nullptr, &given, nullptr) != miopenStatusSuccess;
                wrong[t] += given != extent;
                if (i % 3) wrong[t] += miopenDestroyTensorDescriptor(tensor) != miopenStatusSuccess;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == std::vector<int>(8));
}

TEST_CASE("MIOpen: a handle keeps a stream, an allocator and a time") {
    Session const session;
    miopenAcceleratorQueue_t stream = &stream;
    succeeds(miopenGetStream(session, &stream));
    CHECK(stream == nullptr);
    CHECK(miopenGetStream(session, nullptr) == miopenStatusBadParm);
    succeeds(miopenEnableProfiling(session, false));
    succeeds(miopenEnableProfiling(session, true));
    float time = 7;
    succeeds(miopenGetKernelTime(session, &time));
    CHECK(time == 0);  // nothing was run
    CHECK(miopenGetKernelTime(session, nullptr) == miopenStatusBadParm);
    CHECK(miopenSetAllocator(
              session, [](void*, std::size_t) -> void* { return nullptr; }, nullptr, nullptr) == miopenStatusBadParm);
    std::size_t major = 0, minor = 9, patch = 9;
    succeeds(miopenGetVersion(&major, nullptr, &patch));
    CHECK((major == MIOPEN_VERSION_MAJOR && minor == 9 && patch == MIOPEN_VERSION_PATCH));
}

TEST_CASE("MIOpen: every status has its name") {
    CHECK(miopenGetErrorString(miopenStatusSuccess) == std::string("miopenStatusSuccess"));
    CHECK(miopenGetErrorString(miopenStatusVersionMismatch) == std::string("miopenStatusVersionMismatch"));
    CHECK(miopenGetErrorString(static_cast<miopenStatus_t>(11)) == std::string("not a miopenStatus_t"));
    CHECK(miopenGetErrorString(static_cast<miopenStatus_t>(-1)) == std::string("not a miopenStatus_t"));
    for (int status = 0; status <= 10; ++status)
        CHECK(std::strncmp(miopenGetErrorString(static_cast<miopenStatus_t>(status)), "miopenStatus", 12) == 0);
}
