// SPDX-License-Identifier: MIT
//
// Children of fork() in programs that compile in the background, over the fake driver and the fake compiler.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>

#include "layer.hpp"

using test::Layer;

namespace {

std::atomic<int>& variable(char const* name) {
    void* const found = dlsym(dlopen("libnvrtc.so.13", RTLD_NOW), name);
    REQUIRE(found != nullptr);
    return *static_cast<std::atomic<int>*>(found);
}

/// Holds compilations until the end of its scope, also that of a failed test: the program then ends.
struct Hold {
    std::atomic<int>& holds = variable("fake_compiler_holds");
    Hold() { holds = 1; }
    Hold(Hold const&) = delete;
    Hold& operator=(Hold const&) = delete;
    ~Hold() { holds = 0; }
};

/// Status of a child that calls body() and ends with its result, as main does with a return: static destructors run.
/// After a minute the system ends a child that hangs, and the status is that of SIGALRM.
template <class Body>
int status_of_child(Body const& body) {
    pid_t const child = fork();
    if (child == 0) {
        alarm(60);
        std::exit(body());
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    return status;
}

}  // namespace

TEST_CASE("jit fork: a child of a program whose thread is idle ends, and compiles") {
    test::Device const setup;
    Layer layer;
    REQUIRE(layer.prepare_in_time(setup.device) == FUSEKIT_NOT_COMPILED);
    REQUIRE(status_of_child([] { return 0; }) == 0);
    REQUIRE(status_of_child([&] { return layer.prepare_in_time(setup.device) == FUSEKIT_NOT_COMPILED ? 0 : 1; }) == 0);
}

TEST_CASE("jit fork: units that the parent's thread compiles are not pending in a child") {
    test::Device const setup;
    auto& begun = variable("fake_compiler_begun");
    Layer first, second;
    second.add(FUSEKIT_ACTIVATION, FUSEKIT_GELU);
    Hold hold;
    int const before = begun;
    REQUIRE(first.prepare_async(setup.device) == FUSEKIT_COMPILING);
    REQUIRE(second.prepare_async(setup.device) == FUSEKIT_COMPILING);
    while (begun == before) usleep(1000);
    REQUIRE(status_of_child([] { return 0; }) == 0);
    // The child compiles both, in its thread and in the caller's.
    REQUIRE(status_of_child([&] {
                hold.holds = 0;
                if (first.prepare_in_time(setup.device) != FUSEKIT_NOT_COMPILED) return 1;
                if (second.prepare_in_time(setup.device) != FUSEKIT_NOT_COMPILED) return 2;
                return begun == before + 3 ? 0 : 3;
            }) == 0);
    REQUIRE(status_of_child([&] {
                hold.holds = 0;
                return first.prepare(setup.device) == FUSEKIT_NOT_COMPILED ? 0 : 1;
            }) == 0);
    hold.holds = 0;
    REQUIRE(first.prepare_in_time(setup.device) == FUSEKIT_NOT_COMPILED);
    REQUIRE(second.prepare_in_time(setup.device) == FUSEKIT_NOT_COMPILED);
    REQUIRE(begun == before + 2);
}
