// SPDX-License-Identifier: MIT
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "folder.hpp"
#include "fusekit/runtime/c/fusekit.h"

/// Plans of the backend FUSEKIT_JIT over the fake driver, for tests.
namespace test {

/// A device, and the folder of this program's disk cache.
struct Device {
    Folder const folder;
    fusekit_device device = nullptr;

    Device() {
        REQUIRE(fusekit_jit_set_cache(folder.path.c_str(), 1 << 26) == FUSEKIT_SUCCESS);
        REQUIRE(fusekit_device_create_jit(0, &device) == FUSEKIT_SUCCESS);
    }
    Device(Device const&) = delete;
    Device& operator=(Device const&) = delete;
    ~Device() {
        if (device) fusekit_device_destroy(device);
    }
};

/// Reason why tests do not compile kernels here; null if they do.
inline char const* no_compiler() {
    char const* const wish = std::getenv("FUSEKIT_JIT");
    if (wish && wish[0] == '0') return "skipped: FUSEKIT_JIT=0 in the environment";
    for (char const* const name : {"libnvrtc.so.13", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"})
        if (dlopen(name, RTLD_NOW)) return nullptr;
    return "skipped: no libnvrtc of version 13 on this machine";
}

/// A device for tests that compile kernels, which are skipped where they cannot be and, with FEWER_KERNELS, unless
/// `always` is set.
struct Setup : Device {
    explicit Setup([[maybe_unused]] bool always = false) {
#ifdef FEWER_KERNELS
        if (!always) SKIP("skipped: FUSEKIT_FEWER_KERNELS");
#endif
        if (char const* const reason = no_compiler()) SKIP(reason);
    }
};

inline fusekit_tensor nhwc(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w, void* data = nullptr,
                           fusekit_type type = FUSEKIT_HALF) {
    return {data, type, 4, {n, c, h, w}, {c * h * w, 1, w * c, c}};
}

/// Numbers of the fake driver: fake_launches in fake_driver.cpp.
inline unsigned const* launches() {
    auto const* const numbers = static_cast<unsigned*>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "fake_launches"));
    REQUIRE(numbers != nullptr);
    return numbers;
}

alignas(256) inline unsigned char memory[4][1 << 16];

/// A 1x1 convolution of 16 channels, and operators after it.
struct Layer {
    std::vector<fusekit_operator> operators = {{FUSEKIT_CONV, 0, FUSEKIT_FILTER(1, 1, 0, 1)}};
    std::vector<fusekit_arguments> arguments{1};
    fusekit_tensor x = nhwc(1, 16, 8, 8), y = nhwc(1, 16, 8, 8);
    fusekit_plan plan = nullptr;
    fusekit_run run = nullptr;

    Layer() {
        fusekit_arguments_init(&arguments[0]);
        arguments[0].tensors[FUSEKIT_WEIGHTS] = nhwc(16, 16, 1, 1, memory[0]);
    }
    Layer(Layer const&) = delete;
    Layer& operator=(Layer const&) = delete;
    ~Layer() {
        if (run) fusekit_run_destroy(run);
        if (plan) fusekit_plan_destroy(plan);
    }
    fusekit_arguments& add(std::int32_t kind, std::int32_t mode = 0) {
        operators.push_back({kind, mode, {}});
        fusekit_arguments_init(&arguments.emplace_back());
        return arguments.back();
    }
    int count() const { return static_cast<int>(operators.size()); }
    void find() {
        fusekit_types const types = {x.type, y.type, x.type};
        if (!plan) REQUIRE(fusekit_find(FUSEKIT_JIT, operators.data(), count(), &types, &plan) == FUSEKIT_SUCCESS);
    }
    fusekit_status prepare(fusekit_device device) {
        find();
        return fusekit_prepare(plan, device, arguments.data(), count(), &x, &y, 16, &run);
    }
    fusekit_status prepare_async(fusekit_device device) {
        find();
        return fusekit_prepare_async(plan, device, arguments.data(), count(), &x, &y, 16, &run);
    }
    /// Calls prepare_async() until the kernel is compiled or not.
    fusekit_status prepare_in_time(fusekit_device device) {
        for (;;) {
            fusekit_status const status = prepare_async(device);
            if (status != FUSEKIT_COMPILING) return status;
            usleep(1000);
        }
    }
};

struct Counts {
    std::uint64_t all[3];
    Counts() { REQUIRE(fusekit_jit_counts(all) == FUSEKIT_SUCCESS); }
    bool operator==(Counts const& other) const {
        return all[0] == other.all[0] && all[1] == other.all[1] && all[2] == other.all[2];
    }
};

inline fusekit_tensor floats(std::int64_t count, void* data) { return {data, FUSEKIT_FLOAT, 1, {count}, {1}}; }

/// Plan without operators.
struct Empty : Layer {
    Empty() { operators.clear(), arguments.clear(); }
    fusekit_arguments& add_head(std::int32_t kind, std::int32_t mode, fusekit_filter const& filter) {
        fusekit_arguments& result = add(kind, mode);
        operators.back().filter = filter;
        return result;
    }
};

/// Extents of y, each followed by a space; the message if the call fails.
inline std::string output_of(Empty& layer) {
    layer.find();
    std::int64_t extents[5] = {-1, -1, -1, -1, -1};
    if (fusekit_output_shape(layer.plan, layer.arguments.data(), layer.count(), &layer.x, extents) != FUSEKIT_SUCCESS)
        return fusekit_last_message();
    std::string text;
    for (int mode = 0; mode < layer.x.rank; ++mode) text += std::to_string(extents[mode]) + " ";
    return text;
}

/// Prepares a run, which compiles one kernel, and runs it.
inline void prepare_and_run(Setup const& setup, Empty& layer) {
    Counts const before;
    REQUIRE(layer.prepare(setup.device) == FUSEKIT_SUCCESS);
    REQUIRE(Counts().all[0] == before.all[0] + 1);
    unsigned const launched = launches()[0];
    REQUIRE(fusekit_run_execute(layer.run, setup.device, FUSEKIT_OWN_STREAM, memory[2], memory[3], nullptr, 0) ==
            FUSEKIT_SUCCESS);
    REQUIRE(launches()[0] == launched + 1);
    REQUIRE((launches()[1] > 0 && launches()[2] >= 32));
}

}  // namespace test
