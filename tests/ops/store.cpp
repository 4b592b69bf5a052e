// SPDX-License-Identifier: MIT
#include "fusekit/ops/store.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support/refusal.hpp"
#include "support/stored_values.hpp"

using namespace test;

static_assert(fk::EpilogueOp<fk::Store> && fk::EpilogueOp<fk::StoreMask>);

TEST_CASE("Store writes values and masks at its position in the plan, in every layout and type") {
    for (int const threads : {1, 2}) {
        fk::host::Device device(threads);
        check_stored_values(device);
    }
}

TEST_CASE("plans on double store doubles") {
    fk::host::Device device(2);
    check_stored_pointwise<double, double, 4>(device, {"nchw", "nhwc", "nchw", "nhwc"}, {2, 5, 3, 7});
    check_stored_conv<double, float>(device, {"nhwc", "nhwc", "nchw", "nhwc"}, {2, 5, 3, 7}, 6, {.r = 2, .s = 3});
}

TEST_CASE("a mask of NaN is 0") {
    fk::host::Device device(1);
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(), most = std::numeric_limits<float>::infinity();
    auto const x = fk::tensor<float>(device, fk::nchw(1, 1, 1, 6), {nan, most, -most, 0, -0.0f, 1e-45f});
    auto mask = fk::tensor<float>(device, fk::nchw(1, 1, 1, 6), {7, 7, 7, 7, 7, 7});
    (void)fk::Plan<fk::StoreMask>::bind({.mask = mask})(device, x);
    float const expected[] = {0, 1, 0, 0, 0, 1};
    for (int i = 0; i < 6; ++i) CHECK(mask.data()[i] == expected[i]);
}

TEST_CASE("overlapping outputs are refused, and nothing is written") {
    fk::host::Device device(1);
    using Layer = fk::Plan<fk::Residual, fk::Store, fk::StoreMask>;
    auto const layout = fk::nchw(1, 2, 3, 4);
    auto x = fk::random<float>(device, layout), z = fk::random<float>(device, layout, 2);
    fk::Tensor<float, fk::host::Device> memory(device, fk::nchw(4, 2, 3, 4));
    auto const poison = [&] {
        for (int i = 0; i < 96; ++i) memory.data()[i] = 77;
    };
    auto const part = [&](int first) { return fk::TensorView<float>(memory.data() + first, layout); };
    auto const refused = [&](fk::AnyOutput values, fk::AnyOutput mask, fk::TensorView<float> y) {
        poison();
        std::string const text =
            refusal([&] { Layer::bind({.z = z}, {.values = values}, {.mask = mask})(device, x, y); });
        for (int i = 0; i < 96; ++i)
            if (memory.data()[i] != 77 && text != "accepted") return "written: " + text;
        return text;
    };
    std::string const plan = "Plan<Residual, Store, StoreMask>: ", got = ", got memory that overlaps it";
    CHECK(refused(part(0), part(24), part(48)) == "accepted");
    CHECK(refused(part(0), part(23), part(48)) ==
          plan + "StoreMask.mask: expected memory apart from that of Store.values" + got);
    CHECK(refused(part(30), part(0), part(48)) == plan + "Store.values: expected memory apart from the output's" + got);
    CHECK(refused(part(0), x, part(48)) == plan + "StoreMask.mask: expected memory apart from the input's" + got);
    CHECK(refused(z, part(0), part(48)) == plan + "Store.values: expected memory apart from that of Residual.z" + got);

    CHECK(refused(fk::TensorView<float>(memory.data(), {{{1, 2, 3, 4}}, {{24, 12, 4, 0}}}), part(24), part(48)) ==
          plan +
              "Store.values: expected strides that each exceed the reach of all smaller ones, in either direction, got "
              "24 x 12 x 4 x 0");
    CHECK(refused(fk::TensorView<float>(memory.data(), fk::nchw(1, 2, 4, 3)), part(24), part(48)) ==
          plan + "Store.values: expected 1 x 2 x 3 x 4 (N x K x P x Q), got 1 x 2 x 4 x 3");
    CHECK(refused(fk::TensorView<float>(nullptr, layout), part(24), part(48)) ==
          plan + "Store.values: expected a pointer to 1 x 2 x 3 x 4 elements, got a null pointer");
    fk::Tensor<double, fk::host::Device> wide(device, layout);
    CHECK(refused(wide, part(24), part(48)) ==
          plan + "Store.values: expected float, half or bfloat16, as the input is float, got double");
}
