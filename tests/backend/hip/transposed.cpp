// SPDX-License-Identifier: MIT
#include "fusekit/ops/conv/transposed.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <string>

#include "backend/hip/fewer_kernels.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "support/refusal.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;

// bfloat16 has the kernels of half, with other instructions, which tests of atom/, mma/ and mainloop/ run.
TEMPLATE_TEST_CASE("HIP: transposed convolutions compute what the oracle does", "", float, fk::half, fk::int8) {
    fk::hip::Device device = gpu();
    if constexpr (std::is_same_v<TestType, fk::half>) check_transposed_convolutions<TestType>(device);
    else {
        auto&& on = fewer_kernels(device);
        check_transposed_convolutions<TestType>(on);
    }
}

TEST_CASE("HIP: transposed convolutions of every window compute what the oracle does") {
    fk::hip::Device device = gpu();
    auto&& on = fewer_kernels(device);
    check_transposed_windows<float>(on);
}

TEST_CASE("HIP: a transposed convolution is the adjoint of the convolution") {
    fk::hip::Device device = gpu();
    auto&& on = fewer_kernels(device);
    check_adjoints(on);
}

TEST_CASE("HIP: a transposed window beyond a GEMM's limits runs with Direct or is refused with a reason") {
    fk::hip::Device device = gpu();
    constexpr auto tall = fk::filter(17, 1).pad(8, 0).stride(2, 1);
    check_transposed<float, tall>(device, {1, 3, 12, 4}, 5);
    auto gemm = device.with<fk::hip::Gemm<64, 64, 16>>();
    auto const x = fk::random<float>(device, fk::nchw(1, 5, 6, 4)),
               w = fk::random<float>(device, fk::kcrs(5, 3, 17, 1));
    CHECK(refusal([&] { static_cast<void>(fk::Plan<fk::TransposedConv<tall>>::bind({.weights = w})(gemm, x)); }) ==
          "Plan<TransposedConv<filter(17, 1).pad(8, 0).stride(2, 1)>>: TransposedConv.filter: expected 15 slices, rows "
          "and columns at most, for a Gemm schedule, got filter(17, 1).pad(8, 0).stride(2, 1)");
}

TEST_CASE("HIP: a transposed window's taps decrease in x, and its limits are those of y") {
    using namespace fk::hip::detail;
    using fk::detail::TransposedFilter;
    constexpr auto taps = fk::filter(3, 1);
    constexpr std::int64_t far = std::int64_t{1} << 30;
    auto const of_rows = [](std::int64_t stride, auto const& filter) {
        return oversized_operand(filter, fk::Layout<4>{{{1, 1, 9, 1}}, {{1, 1, stride, 1}}}, fk::kcrs(1, 1, 3, 1),
                                 fk::nchw(1, 1, 9, 1));
    };
    CHECK(of_rows(far, TransposedFilter<2, false>(taps)) == OversizedOperand::none);
    CHECK(of_rows(far, taps) == OversizedOperand::x);  // 2^31 elements forwards exceed the limit by one
    CHECK(of_rows(far + 1, TransposedFilter<2, false>(taps)) == OversizedOperand::x);
    CHECK(of_rows(far + 1, TransposedFilter<2, true>(taps.stride(2, 1))) == OversizedOperand::none);
    CHECK(of_rows(-far, TransposedFilter<2, false>(taps)) == OversizedOperand::x);

    auto const padded = [&](int pad) {
        fk::Refusal const refusal =
            refuse_conv_limits([] { return fk::Text("plan"); }, TransposedFilter<2, false>(taps.pad(pad, 0)),
                               fk::Index<4>{{1, 1, 2, 1}}, fk::Index<4>{{1, 1, 3, 1}}, fk::Index<4>{{1, 1, 9, 1}});
        return refusal ? std::string(refusal->what()) : "accepted";
    };
    CHECK(padded((1 << 30) - 5) == "accepted");
    CHECK(padded((1 << 30) - 4) ==
          "plan: y.shape: expected fewer than 2^31 rows and columns, with the padding, got 1 x 1 x 9 x 1");
}
