// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <list>
#include <thread>
#include <vector>

#include "compat/small_plan.hpp"

using namespace test::miopen;
using namespace test;

TEST_CASE("MIOpen: eight threads that share a plan, each with a handle and a stream, are bitwise identical to one") {
    SmallPlan small;
    std::vector<Session> sessions(8);
    std::vector<OwnStream> const streams(8);
    for (std::size_t t = 0; t < 8; ++t) {
        succeeds(miopenSetStream(sessions[t], streams[t].queue()));
        small.compile(sessions[t]);
    }
    std::list<DeviceTensor> outputs;
    for (int t = 0; t < 8; ++t) outputs.emplace_back(fk::DataType::float32, SmallPlan::image);
    std::vector<std::thread> threads;
    std::vector<int> refused(8);
    for (std::size_t t = 0; t < 8; ++t) {
        DeviceTensor& output = *std::next(outputs.begin(), static_cast<std::ptrdiff_t>(t));
        threads.emplace_back([&, t] {
            for (int i = 0; i < 50; ++i)
                refused[t] +=
                    miopenExecuteFusionPlan(sessions[t], small.plan, small.x.descriptor, small.x.data(),
                                            output.descriptor, output.data(), small.args) != miopenStatusSuccess;
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(refused == std::vector<int>(8));
    small.compile();
    succeeds(small.run());
    CHECK(small.wrong() == "");
    auto const& expected = small.y.memory.fetch().raw();
    for (DeviceTensor& output : outputs) CHECK(output.memory.fetch().raw() == expected);
}
