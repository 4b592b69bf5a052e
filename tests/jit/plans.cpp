// SPDX-License-Identifier: MIT
//
// Plans that libnvrtc compiles, over the fake driver (fake_driver.cpp): the compiler needs no GPU. Skipped without a
// libnvrtc. bench/jit compares results on a GPU.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "fusekit/runtime/activation_mode.hpp"
#include "layer.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;

using namespace test;

std::int32_t added(char const* name, char const* source) {
    std::int32_t mode = -1;
    REQUIRE(fusekit_jit_add_operator(name, source, &mode) == FUSEKIT_SUCCESS);
    return mode;
}

}  // namespace

TEST_CASE("jit plans: prepared, run, cached in memory and on disk") {
    Setup const setup;
    std::int32_t const swish = added("Swish", R"(struct Swish {
    static constexpr auto stage = fusekit::Stage::activation;
    struct Args { float beta; };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) { return x / (V{} + 1.0f + fk::math::exp(-args.beta * x)); }
};)");
    auto const add_all = [&](Layer& layer) {
        layer.add(FUSEKIT_BIAS).tensors[FUSEKIT_BIASES] = {memory[1], FUSEKIT_FLOAT, 1, {16}, {1}};
        layer.add(FUSEKIT_RESIDUAL).tensors[FUSEKIT_Z] = nhwc(1, 16, 8, 8, memory[2]);
        layer.add(FUSEKIT_OWN, swish).alpha = 1.5;
    };
    Layer layer;
    add_all(layer);
    REQUIRE(layer.prepare(setup.device) == FUSEKIT_SUCCESS);
    unsigned const before = launches()[0];
    REQUIRE(fusekit_run_execute(layer.run, setup.device, FUSEKIT_OWN_STREAM, memory[2], memory[3], nullptr, 0) ==
            FUSEKIT_SUCCESS);
    REQUIRE(launches()[0] == before + 1);
    REQUIRE((launches()[1] > 0 && launches()[2] >= 32));
    REQUIRE(fusekit_execute(layer.plan, setup.device, FUSEKIT_OWN_STREAM, layer.arguments.data(), layer.count(),
                            &layer.x, &layer.y, nullptr, 0) == FUSEKIT_REFUSED);
    REQUIRE_THAT(fusekit_last_message(), ContainsSubstring("x: expected a pointer"));

    // a second plan of the same sequence finds the code in memory, from any number of threads
    Counts const first;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            Layer again;
            add_all(again);
            again.arguments[3].alpha = 2;  // an argument, not code
            if (again.prepare(setup.device) != FUSEKIT_SUCCESS) std::abort();
        });
    for (std::thread& one : threads) one.join();
    Counts const second;
    REQUIRE(second.all[0] == first.all[0]);
    REQUIRE(second.all[2] == first.all[2] + 4);
}

TEST_CASE("jit plans: a launch has the dynamic shared memory of the plan's own code") {
    Setup const setup;
    Layer layer;
    layer.operators[0].filter = FUSEKIT_FILTER(16, 16, 0, 16);
    layer.arguments[0].tensors[FUSEKIT_WEIGHTS] = nhwc(768, 3, 16, 16, memory[0], FUSEKIT_FLOAT);
    layer.x = nhwc(8, 3, 224, 224, nullptr, FUSEKIT_FLOAT), layer.y = nhwc(8, 768, 14, 14, nullptr, FUSEKIT_FLOAT);
    layer.add(FUSEKIT_BIAS).tensors[FUSEKIT_BIASES] = {memory[1], FUSEKIT_FLOAT, 1, {768}, {1}};
    layer.add(FUSEKIT_ACTIVATION, FUSEKIT_RELU);
    REQUIRE(layer.prepare(setup.device) == FUSEKIT_SUCCESS);
    auto* const x = reinterpret_cast<void*>(std::uintptr_t{1} << 32);  // addresses that nothing reads
    auto* const y = reinterpret_cast<void*>(std::uintptr_t{1} << 33);
    REQUIRE(fusekit_run_execute(layer.run, setup.device, FUSEKIT_OWN_STREAM, x, y, nullptr, 0) == FUSEKIT_SUCCESS);
    // sizeof MatrixGemm<128, 128, 1>'s DynamicShared as g++ lays it out: two stages of 128 + 128 rows of 64 floats in
    // three bfloat16 terms, 196608, and pixels, tables and 8 bytes of parameters of each channel, 6144
    REQUIRE(launches()[4] == 196608 + 6144);
    REQUIRE(launches()[5] == 196608 + 6144);
}

TEST_CASE("jit plans: every activation compiles") {
    Setup const setup;
    for (std::int32_t mode = FUSEKIT_PASSTHRU; mode <= FUSEKIT_SOFTSIGN; ++mode) {
        Layer layer;
        layer.operators.clear(), layer.arguments.clear();
        layer.add(FUSEKIT_ACTIVATION, mode);
        CAPTURE(mode);
        fusekit_status const status = layer.prepare(setup.device);
        INFO(fusekit_last_message());
        REQUIRE(status == FUSEKIT_SUCCESS);
    }
}

TEST_CASE("jit plans: kernels that wait for no earlier one") {
    Setup const setup;
    Layer grouped;
    grouped.operators[0].filter = FUSEKIT_FILTER(3, 3, 1, 1);
    grouped.operators[0].filter.groups = 32;
    grouped.arguments[0].tensors[FUSEKIT_WEIGHTS] = nhwc(128, 4, 3, 3, memory[0]);
    grouped.x = nhwc(32, 128, 28, 28), grouped.y = nhwc(32, 128, 28, 28);
    REQUIRE(grouped.prepare(setup.device) == FUSEKIT_SUCCESS);
    Layer few;  // tiles of few pixels divide GemmK (Split)
    few.operators[0].filter = FUSEKIT_FILTER(3, 3, 1, 1);
    few.arguments[0].tensors[FUSEKIT_WEIGHTS] = nhwc(512, 512, 3, 3, memory[0]);
    few.x = nhwc(1, 512, 7, 7), few.y = nhwc(1, 512, 7, 7);
    REQUIRE(few.prepare(setup.device) == FUSEKIT_SUCCESS);
}

TEST_CASE("jit plans: threads that prepare one plan compile it once") {
    Setup const setup;
    Layer layer;
    layer.add(FUSEKIT_BINARY, FUSEKIT_MULTIPLY).tensors[FUSEKIT_Z] = nhwc(1, 16, 8, 8, memory[2]);
    layer.find();
    Counts const before;
    std::vector<std::thread> threads;
    fusekit_run runs[4] = {};
    for (fusekit_run& run : runs)
        threads.emplace_back([&] {
            static_cast<void>(fusekit_prepare(layer.plan, setup.device, layer.arguments.data(), layer.count(), &layer.x,
                                              &layer.y, 16, &run));
        });
    for (std::thread& one : threads) one.join();
    for (fusekit_run run : runs) REQUIRE(fusekit_run_destroy(run) == FUSEKIT_SUCCESS);
    REQUIRE(Counts().all[0] == before.all[0] + 1);
}

TEST_CASE("jit plans: a kernel is compiled in the background") {
    Setup const setup;
    Layer layer, wrong;
    layer.add(FUSEKIT_ACTIVATION, FUSEKIT_GELU_TANH);
    Counts const before;
    REQUIRE(layer.prepare_async(setup.device) == FUSEKIT_COMPILING);
    REQUIRE(std::string(fusekit_last_message()) ==
            "Plan<Conv<filter(1, 1)>, Activation<GeluTanh>>: compilation: expected a kernel that is compiled, got one "
            "that is being compiled: call again");
    REQUIRE(layer.run == nullptr);
    // behind it, a unit that does not compile
    wrong.add(FUSEKIT_OWN, added("Missing", R"(struct Missing {
    static constexpr auto stage = fusekit::Stage::activation;
    struct Args {};
    template <class V> FUSEKIT_HD static constexpr V apply(V x, Args const&) { return missing(x); }
};)"));
    REQUIRE(wrong.prepare_async(setup.device) == FUSEKIT_COMPILING);
    REQUIRE(layer.prepare_in_time(setup.device) == FUSEKIT_SUCCESS);
    REQUIRE(Counts().all[0] == before.all[0] + 1);
    REQUIRE(fusekit_run_execute(layer.run, setup.device, FUSEKIT_OWN_STREAM, memory[2], memory[3], nullptr, 0) ==
            FUSEKIT_SUCCESS);
    REQUIRE(wrong.prepare_in_time(setup.device) == FUSEKIT_NOT_COMPILED);
    REQUIRE_THAT(fusekit_last_message(), ContainsSubstring("Missing(4): error:"));
    REQUIRE(wrong.run == nullptr);

    // a call that compiles itself does not wait for the thread's queue, and the thread does not compile again
    Layer both;
    both.add(FUSEKIT_ACTIVATION, FUSEKIT_GELU);
    REQUIRE(both.prepare_async(setup.device) == FUSEKIT_COMPILING);
    REQUIRE(both.prepare(setup.device) == FUSEKIT_SUCCESS);
    REQUIRE(Counts().all[0] == before.all[0] + 2);
}

TEST_CASE("jit plans: processes find each other's code on disk") {
    Setup const setup;
    for (int i = 0; i < 3; ++i) {
        pid_t const child = fork();
        if (child == 0) {
            Layer layer;
            layer.add(FUSEKIT_SCALE);
            Counts const before;
            bool const prepared = layer.prepare(setup.device) == FUSEKIT_SUCCESS;
            int const how = i == 0 ? 0 : 1;  // compiled, then from disk
            _exit(prepared && Counts().all[how] == before.all[how] + 1 ? 0 : 1);
        }
        int status = -1;
        REQUIRE(waitpid(child, &status, 0) == child);
        REQUIRE(status == 0);
    }
}

TEST_CASE("jit plans: an operator that does not compile has the line of its source") {
    Setup const setup;
    Layer layer;
    layer.add(FUSEKIT_OWN, added("Wrong", R"(struct Wrong {
    static constexpr auto stage = fusekit::Stage::activation;
    struct Args {};
    template <class V> FUSEKIT_HD static constexpr V apply(V x, Args const&) { return unknown(x); }
};)"));
    REQUIRE(layer.prepare(setup.device) == FUSEKIT_NOT_COMPILED);
    std::string const message = fusekit_last_message();
    REQUIRE_THAT(message, ContainsSubstring("Wrong(4): error:"));
    REQUIRE_THAT(message, ContainsSubstring("unknown"));
    REQUIRE(std::count(message.begin(), message.end(), '\n') < 12);
    REQUIRE(layer.run == nullptr);
}

TEST_CASE("jit plans: arguments are refused before anything is compiled") {
    test::Device const setup;
    Layer layer;
    layer.add(FUSEKIT_BIAS).tensors[FUSEKIT_BIASES] = {memory[1], FUSEKIT_FLOAT, 1, {15}, {1}};
    Counts const before;
    REQUIRE(layer.prepare(setup.device) == FUSEKIT_REFUSED);
    REQUIRE(std::string(fusekit_last_message()) ==
            "Plan<Conv<filter(1, 1)>, Bias>: Bias.bias: expected 16 (K), got 15");
    layer.arguments[1].tensors[FUSEKIT_BIASES].rank = 0;
    REQUIRE(layer.prepare(setup.device) == FUSEKIT_REFUSED);
    REQUIRE_THAT(fusekit_last_message(), ContainsSubstring("Bias.bias: expected a tensor, got none"));
    REQUIRE(Counts() == before);
}

TEST_CASE("jit plans: runs without outputs compile and launch nothing") {
    test::Device const setup;
    Counts const before;
    unsigned const launched = launches()[0];
    auto const check = [&](Layer& layer) {
        REQUIRE(layer.prepare(setup.device) == FUSEKIT_SUCCESS);
        for (void* const address : {static_cast<void*>(memory[3]), static_cast<void*>(nullptr)}) {
            REQUIRE(fusekit_run_execute(layer.run, setup.device, FUSEKIT_OWN_STREAM, address, address, nullptr, 0) ==
                    FUSEKIT_SUCCESS);
            layer.x.data = layer.y.data = address;
            REQUIRE(fusekit_execute(layer.plan, setup.device, FUSEKIT_OWN_STREAM, layer.arguments.data(), layer.count(),
                                    &layer.x, &layer.y, nullptr, 0) == FUSEKIT_SUCCESS);
        }
    };
    Layer convolution;
    convolution.x = convolution.y = nhwc(0, 16, 8, 8);
    convolution.add(FUSEKIT_BIAS).tensors[FUSEKIT_BIASES] = {memory[1], FUSEKIT_FLOAT, 1, {16}, {1}};
    check(convolution);
    for (fusekit_tensor const& empty : {nhwc(0, 16, 8, 8), nhwc(2, 0, 8, 8), nhwc(2, 16, 0, 8)}) {
        for (std::int32_t const kind : {FUSEKIT_ACTIVATION, FUSEKIT_LAYER_NORM, FUSEKIT_SOFTMAX}) {
            Layer layer;
            layer.operators.clear(), layer.arguments.clear();
            layer.add(kind);
            layer.x = layer.y = empty;
            INFO(kind << " of " << empty.extents[0] << " x " << empty.extents[1] << " x " << empty.extents[2]);
            check(layer);
        }
    }
    REQUIRE(Counts() == before);
    REQUIRE(launches()[0] == launched);
}

TEST_CASE("jit plans: a first compilation during capture, and FUSEKIT_JIT=0, are refused") {
    Setup const setup;
    Layer layer;
    layer.add(FUSEKIT_ACTIVATION, FUSEKIT_ABS);
    layer.prepare(setup.device);
    fusekit_tensor x = layer.x, y = layer.y;
    x.data = memory[2], y.data = memory[3];
    void* const captured = reinterpret_cast<void*>(0xca);  // the fake driver's stream that is being captured
    auto const execute = [&](fusekit_plan plan) {
        return fusekit_execute(plan, setup.device, captured, layer.arguments.data(), layer.count(), &x, &y, nullptr, 0);
    };
    REQUIRE(execute(layer.plan) == FUSEKIT_SUCCESS);
    Layer second;
    second.add(FUSEKIT_ACTIVATION, FUSEKIT_TANH);
    second.find();
    REQUIRE(execute(second.plan) == FUSEKIT_NOT_COMPILED);
    REQUIRE_THAT(fusekit_last_message(), ContainsSubstring("during capture"));
    setenv("FUSEKIT_JIT", "0", 1);
    REQUIRE(second.prepare(setup.device) == FUSEKIT_NOT_COMPILED);
    REQUIRE_THAT(fusekit_last_message(), ContainsSubstring("FUSEKIT_JIT=0"));
    unsetenv("FUSEKIT_JIT");
    REQUIRE(second.prepare(setup.device) == FUSEKIT_SUCCESS);
}
