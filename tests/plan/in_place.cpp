// SPDX-License-Identifier: MIT
// y equal to x, or to a Residual's z; and views that interleave.
#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "support/flipped_outputs.hpp"
#include "support/in_place.hpp"
#include "support/refusal.hpp"

using namespace test;

namespace {

using Relu = fk::Plan<fk::Activation<fk::Relu>>;

/// Message of the refused call; checks that memory is unchanged.
std::string refused(std::vector<float> const& memory, auto const& call) {
    auto const before = memory;
    std::string const text = refusal(call);
    CHECK(memory == before);
    return text;
}

}  // namespace

TEST_CASE("a plan is bitwise identical in place, and if it adds to y") {
    fk::host::Device device(2);
    check_in_place(device, device);
}

TEST_CASE("slices of one tensor may be input and output") {
    fk::host::Device device(2);
    auto whole = fk::nhwc(2, 3, 5, 12);
    std::vector<float> memory(static_cast<std::size_t>(whole.size()));
    std::iota(memory.begin(), memory.end(), -100.0f);
    auto expected = memory;
    for (std::size_t pixel = 0; pixel < memory.size(); pixel += 12)
        for (std::size_t c = 0; c < 5; ++c) expected[pixel + 7 + c] = std::max(memory[pixel + c], 0.0f);
    auto slice = whole;
    slice.shape[1] = 5;
    fk::TensorView const x(memory.data(), slice), y(memory.data() + 7, slice);
    auto const relu = Relu::bind({});
    SECTION("of one run") { relu(device, x, y); }
    SECTION("of a prepared run") { relu.prepare(device, x, y)(device, x, y); }
    CHECK(memory == expected);
}

TEST_CASE("a prepared run may be in place, and adds to y") {
    fk::host::Device device(2);
    auto const layout = fk::nchw(1, 2, 3, 3);
    std::vector<float> memory(18), other(18, 1.0f);
    std::iota(memory.begin(), memory.end(), -9.0f);
    auto const before = memory;
    auto expected = [&](auto const& f) {
        std::vector<float> values;
        for (float const v : before) values.push_back(f(v));
        return values;
    };
    fk::TensorView const own(memory.data(), layout), x(other.data(), layout);
    Relu::bind({}).prepare<float>(device, layout, layout, 4)(device, own, own);
    CHECK(memory == expected([](float v) { return v > 0 ? v : 0; }));
    memory = before;
    auto const add = fk::Plan<fk::Residual>::bind({.z = own, .alpha2 = 3}).prepare<float>(device, layout, layout, 4);
    add(device, x, own);
    CHECK(memory == expected([](float v) { return 1 + 3 * v; }));
    CHECK(refused(memory, [&] { add(device, x, memory.data() + 1); }) ==
          "Plan<Residual>: Residual.z: expected memory apart from the output's, or the output itself, got memory that "
          "overlaps it");
}

TEST_CASE("a plan that reads an element of x after others of y are written does not run in place") {
    fk::host::Device device(2);
    std::vector<float> memory(400, 1.0f), channels(8, 1.0f), scratch(4000);
    auto const at = [&](std::int64_t first, fk::Layout<4> const& layout) {
        return fk::TensorView(memory.data() + first, layout);
    };
    auto const apart = [](std::string const& plan, std::string const& argument = "x", std::string const& more = "") {
        return plan + ": " + argument + ": expected memory apart from the output's" + more +
               ", got memory that overlaps it";
    };
    fk::TensorView<float, 1> const two(channels.data(), fk::channels(2)), others(channels.data() + 2, fk::channels(2));
    auto const x = at(0, fk::nchw(1, 2, 4, 4));
    CHECK(refused(memory, [&] { Relu::bind({})(device, x, at(1, fk::nchw(1, 2, 4, 4))); }) ==
          apart("Plan<Activation<Relu>>", "x", ", or the output itself"));
    CHECK(refused(memory, [&] { Relu::bind({})(device, x, at(0, fk::nhwc(1, 4, 4, 2))); }) ==
          apart("Plan<Activation<Relu>>", "x", ", or the output itself"));

    using Conv = fk::Conv<fk::filter(1, 1)>;
    fk::TensorView<float const> const weights(channels.data() + 4, fk::kcrs(2, 2, 1, 1));
    CHECK(refused(memory, [&] { fk::Plan<Conv>::bind({weights})(device, x, x); }) == apart("Plan<Conv<filter(1, 1)>>"));
    using Statistics = fk::Plan<fk::ChannelStatistics>;
    CHECK(refused(memory, [&] { Statistics::bind({.mean = two, .variance = others})(device, x, x); }) ==
          apart("Plan<ChannelStatistics>"));
    using Pool = fk::Plan<fk::Residual, fk::Pool<fk::Max, 2, 2>>;
    CHECK(refused(memory, [&] {
              Pool::bind({.z = at(100, x.layout)}, {})(device, x, at(100, fk::nchw(1, 2, 2, 2)));
          }) == apart("Plan<Residual, Pool<Max, 2, 2>>", "Residual.z", ", or the output itself"));
    using Store = fk::Plan<fk::Store>;
    CHECK(refused(memory, [&] { Store::bind({.values = x})(device, x, at(100, x.layout)); }) ==
          "Plan<Store>: Store.values: expected memory apart from the input's, got memory that overlaps it");
    CHECK(refused(memory, [&] { Store::bind({.values = at(100, x.layout)})(device, x, at(100, x.layout)); }) ==
          apart("Plan<Store>", "Store.values"));
}

TEST_CASE("outputs with negative strides have the same values") {
    fk::host::Device device(2);
    check_flipped_outputs<float>(device);
    check_flipped_outputs<fk::half>(device);
}
