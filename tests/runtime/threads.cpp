// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <thread>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "fusekit_runtime_host.hpp"

namespace fk = fusekit;
namespace rt = fk::runtime;
using Set = rt::ready_made::HostSet;

TEST_CASE("Eight threads that share one set, plan and run are bitwise identical to one thread", "[runtime]") {
    fk::host::Device setup(1);
    auto const layout = fk::nchw(2, 16, 14, 14);
    auto const x = fk::random<float>(setup, layout), w = fk::random<float>(setup, fk::kcrs(16, 16, 3, 3), 2);
    auto const b = fk::random<float>(setup, fk::channels(16), 3);
    rt::Descriptor const sequence[] = {rt::conv(fk::filter(3, 3).pad(1)), rt::bias(),
                                       rt::activation(rt::ActivationMode::tanh)};
    auto const handle = Set::find(sequence, fk::DataType::float32).value();
    std::vector<rt::Arguments> arguments(3);
    arguments[0][rt::Role::weights] = rt::View(w);
    arguments[1][rt::Role::bias] = rt::View(b);
    arguments[2].alpha = arguments[2].beta = 1;
    std::size_t const size = static_cast<std::size_t>(x.size());
    auto const compute = [&](rt::Handle<fk::host::Device> const& plan, rt::Run<fk::host::Device> const& run) {
        fk::host::Device device(1);
        fk::Tensor<float, fk::host::Device> y(device, layout);
        fk::Workspace const workspace(device, 1 << 20);
        std::vector<float> all, values(size);
        for (int again = 0; again < 4; ++again) {
            auto const refused =
                run ? run->run(device, x.data(), y.data(), workspace) : plan.run(device, arguments, x, y, workspace);
            if (refused) return std::vector<float>();
            y.copy_to(values.data());
            all.insert(all.end(), values.begin(), values.end());
        }
        return all;
    };
    auto const expected = compute(handle, nullptr);
    REQUIRE(expected.size() == 4 * size);
    rt::Run<fk::host::Device> run;
    {
        fk::Tensor<float, fk::host::Device> y(setup, layout);
        REQUIRE_FALSE(handle.prepare(setup, arguments, x, y, run));
    }
    std::vector<std::vector<float>> results(8);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < results.size(); ++i)
        threads.emplace_back([&, i] {
            auto const own = Set::find(sequence, fk::DataType::float32).value();
            results[i] = i % 4 == 0 ? compute(own, nullptr) : i % 2 ? compute(handle, run) : compute(handle, nullptr);
        });
    for (std::thread& thread : threads) thread.join();
    for (auto const& result : results) {
        REQUIRE(result.size() == expected.size());
        CHECK(std::memcmp(result.data(), expected.data(), expected.size() * sizeof(float)) == 0);
    }
}
