// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/device.hpp"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

#include "fusekit/backend/device.hpp"
#include "fusekit/error.hpp"

namespace fk = fusekit;

static_assert(fk::Device<fk::host::Device>);
static_assert(!std::is_copy_constructible_v<fk::host::Device> && !std::is_move_constructible_v<fk::host::Device>);

TEST_CASE("memory is aligned to a cache line, at every size") {
    fk::host::Device device(1);
    for (std::size_t bytes : {1u, 63u, 64u, 65u, 4096u, 100001u}) {
        void* const memory = device.allocate(bytes);
        CHECK(reinterpret_cast<std::uintptr_t>(memory) % 64 == 0);
        static_cast<char*>(memory)[bytes - 1] = 1;
        device.release(memory);
    }
    CHECK_THROWS_AS(device.allocate(std::size_t{1} << 60), fk::Error);
}

TEST_CASE("a device has as many threads as asked for, or one for each processor") {
    for (int threads : {1, 2, 7}) CHECK(fk::host::Device(threads).threads() == threads);
    CHECK(fk::host::Device().threads() >= 1);
    CHECK(fk::host::Device(-3).threads() >= 1);
}

TEST_CASE("parallel_for runs every item once, on a thread of the device") {
    for (int threads : {1, 2, 5}) {
        fk::host::Device device(threads);
        for (std::int64_t items : {0, 1, 2, 3, 100, 10007}) {
            std::vector<std::atomic<int>> runs(static_cast<std::size_t>(items));
            std::atomic<int> strangers = 0;
            {
                fk::host::Device::RunContext context(device);
                context.parallel_for(items, [&](std::int64_t item, int thread) {
                    ++runs[static_cast<std::size_t>(item)];
                    strangers += thread < 0 || thread >= threads;
                });
            }
            int wrong = 0;
            for (auto const& count : runs) wrong += count != 1;
            CHECK(wrong == 0);
            CHECK(strangers == 0);
        }
    }
}

TEST_CASE("parallel_for gives concurrent threads distinct numbers") {
    fk::host::Device device(4);
    std::atomic<int> inside[4] = {}, clashes = 0;
    for (int round = 0; round < 200; ++round) {
        fk::host::Device::RunContext context(device);
        context.parallel_for(8, [&](std::int64_t, int thread) {
            clashes += ++inside[thread] != 1;
            std::this_thread::yield();
            --inside[thread];
        });
    }
    CHECK(clashes == 0);
}

TEST_CASE("concurrent runs on one device are serialized") {
    fk::host::Device device(3);
    REQUIRE(!device.keep_workspace(4 * 64));
    std::atomic<int> holders = 0, clashes = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int round = 0; round < 100; ++round) {
                fk::host::Device::RunContext context(device);
                clashes += ++holders != 1;
                float* const scratch = context.scratch(64);
                context.parallel_for(5, [&](std::int64_t item, int) { scratch[item] = static_cast<float>(item); });
                for (int i = 0; i < 5; ++i) clashes += scratch[i] != static_cast<float>(i);
                --holders;
            }
        });
    for (auto& thread : threads) thread.join();
    CHECK(clashes == 0);
}

TEST_CASE("the device's workspace is reallocated only to grow") {
    fk::host::Device device(1);
    CHECK(device.own_workspace_bytes() == 0);
    REQUIRE(!device.keep_workspace(4000));
    CHECK(device.own_workspace_bytes() == 4000);
    float* first;
    {
        fk::host::Device::RunContext context(device);
        first = context.scratch(1000);
        CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
        first[999] = 5;
    }
    REQUIRE(!device.keep_workspace(2000));
    CHECK(device.own_workspace_bytes() == 4000);
    CHECK(fk::host::Device::RunContext(device).scratch(1000) == first);
    REQUIRE(!device.keep_workspace(400000));
    fk::host::Device::RunContext context(device);
    context.scratch(100000)[99999] = 1;
}

TEST_CASE("a failed workspace allocation is refused, and the device keeps its workspace") {
    fk::host::Device device(1);
    REQUIRE(!device.keep_workspace(64));
    fk::Refusal const refusal = device.keep_workspace(std::size_t{1} << 60);
    REQUIRE(refusal);
    CHECK(refusal->given == "1152921504606846976 bytes");
    CHECK(device.own_workspace_bytes() == 64);
}

TEST_CASE("a run's scratch is whole cache lines of the caller's workspace, one after another") {
    fk::host::Device device(1);
    alignas(64) float memory[64];
    fk::host::Device::RunContext context(device, {memory, sizeof memory});
    CHECK(context.scratch(1) == memory);
    CHECK(context.scratch(17) == memory + 16);
    CHECK(context.scratch(16) == memory + 48);
    CHECK((fk::host::scratch_size(1) == 16 && fk::host::scratch_size(16) == 16 && fk::host::scratch_size(17) == 32));
}
