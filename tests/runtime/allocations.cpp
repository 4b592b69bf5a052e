// SPDX-License-Identifier: MIT
// A separate program, because it counts all of its allocations.
#include <catch2/catch_test_macros.hpp>

#include "fusekit/fusekit.hpp"
#include "fusekit/runtime/c/fusekit.h"
#include "fusekit_runtime_host.hpp"
#include "support/counted_allocations.hpp"

namespace fk = fusekit;
namespace rt = fk::runtime;
using test::allocations;

namespace {

fusekit_tensor c_view(rt::View const& view) {
    fusekit_tensor result{view.data, static_cast<fusekit_type>(view.type), view.rank, {}, {}};
    for (int mode = 0; mode < 5; ++mode)
        result.extents[mode] = view.extents[mode], result.strides[mode] = view.strides[mode];
    return result;
}

}  // namespace

TEST_CASE("Finding a plan, binding new arguments and running allocate nothing; nor does the C interface's run") {
    fk::host::Device device(1);
    auto const layout = fk::nchw(2, 4, 6, 6);
    auto const x = fk::random<float>(device, layout), w = fk::random<float>(device, fk::kcrs(4, 4, 3, 3), 2);
    auto const b = fk::random<float>(device, fk::channels(4), 3);
    fk::Tensor<float, fk::host::Device> y(device, layout);
    rt::Descriptor const sequence[] = {rt::conv(fk::filter(3, 3).pad(1)), rt::bias(),
                                       rt::activation(rt::ActivationMode::relu)};
    rt::Arguments arguments[3];
    arguments[0][rt::Role::weights] = rt::View(w);
    arguments[1][rt::Role::bias] = rt::View(b);
    rt::View const from(x), to(y);
    auto const prepared_first = rt::ready_made::HostSet::find(sequence, fk::DataType::float32).value();
    rt::Run<fk::host::Device> run;
    REQUIRE_FALSE(prepared_first.prepare(device, arguments, from, to, run));

    long before = allocations;
    auto const handle = rt::ready_made::HostSet::find(sequence, fk::DataType::float32);
    bool const refused = handle->run(device, arguments, from, to) || run->run(device, x.data(), y.data());
    CHECK(allocations == before);
    CHECK_FALSE(refused);
    CHECK_FALSE(prepared_first.prepare(device, arguments, from, to, run));
    CHECK(allocations > before);  // the counter counts

    fusekit_operator const operators[] = {
        {FUSEKIT_CONV, 0, FUSEKIT_FILTER(3, 3, 1, 1)}, {FUSEKIT_BIAS, 0, {}}, {FUSEKIT_ACTIVATION, FUSEKIT_RELU, {}}};
    fusekit_types const types{};
    fusekit_arguments own[3];
    for (auto& each : own) REQUIRE(fusekit_arguments_init(&each) == FUSEKIT_SUCCESS);
    own[0].tensors[FUSEKIT_WEIGHTS] = c_view(arguments[0][rt::Role::weights]);
    own[1].tensors[FUSEKIT_BIASES] = c_view(arguments[1][rt::Role::bias]);
    fusekit_tensor const c_x = c_view(from), c_y = c_view(to);
    fusekit_device c_device;
    fusekit_plan plan;
    fusekit_run c_run;
    REQUIRE(fusekit_device_create_host(1, &c_device) == FUSEKIT_SUCCESS);
    REQUIRE(fusekit_find(FUSEKIT_HOST, operators, 3, &types, &plan) == FUSEKIT_SUCCESS);
    REQUIRE(fusekit_prepare(plan, c_device, own, 3, &c_x, &c_y, 4, &c_run) == FUSEKIT_SUCCESS);
    before = allocations;
    fusekit_status const executed = fusekit_execute(plan, c_device, nullptr, own, 3, &c_x, &c_y, nullptr, 0),
                         ran = fusekit_run_execute(c_run, c_device, nullptr, c_x.data, c_y.data, nullptr, 0);
    CHECK(allocations == before);
    CHECK(executed == FUSEKIT_SUCCESS);
    CHECK(ran == FUSEKIT_SUCCESS);
    CHECK(fusekit_run_destroy(c_run) == FUSEKIT_SUCCESS);
    CHECK(fusekit_plan_destroy(plan) == FUSEKIT_SUCCESS);
    CHECK(fusekit_device_destroy(c_device) == FUSEKIT_SUCCESS);
}
