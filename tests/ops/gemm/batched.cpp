// SPDX-License-Identifier: MIT
#include "fusekit/ops/gemm/batched.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "support/half_types.hpp"
#include "support/matrix_products.hpp"
#include "support/refusal.hpp"

using namespace test;

static_assert(fk::BatchedOp<fk::BatchedGemm> && !fk::BatchedOp<fk::Gemm>);

using Elements = AndBfloat16<float, fk::half, fk::int8, double>;

TEMPLATE_LIST_TEST_CASE("BatchedGemm agrees with the oracle", "", Elements) {
    fk::host::Device one(1), two(2);
    if constexpr (!std::is_same_v<TestType, double>) check_batched_products<TestType>(one);
    check_batched_products<TestType>(two);
}

TEST_CASE("a BatchedGemm refuses wrong arguments in terms of rows and columns") {
    fk::host::Device device(1);
    auto const x = fk::random<float>(device, fk::row_major(3, 5, 4));
    auto const one = fk::random<float>(device, fk::row_major(5, 4));
    auto const w = fk::random<float>(device, fk::row_major(3, 7, 4)),
               few = fk::random<float>(device, fk::row_major(2, 7, 4)),
               turned = fk::random<float>(device, fk::row_major(3, 4, 7));
    auto const shared = fk::random<float>(device, fk::row_major(7, 4));
    auto const halves = fk::random<fk::half>(device, fk::row_major(3, 7, 4));
    auto const got = [&](auto const& weights, auto const& input) {
        return refusal(
            [&] { static_cast<void>(fk::Plan<fk::BatchedGemm>::bind({.weights = weights})(device, input)); });
    };
    std::string const weights = "Plan<BatchedGemm>: BatchedGemm.weights: expected ";
    CHECK(got(few, x) == weights + "3 x 7 x 4 (B x N x K), got 2 x 7 x 4");
    CHECK(got(turned, x) == weights + "3 x 4 x 4 (B x N x K), got 3 x 4 x 7");
    CHECK(got(shared, x) == weights + "3 x 7 x 4 (B x N x K), got 7 x 4");
    CHECK(got(w, one) == weights + "7 x 4 (N x K), got 3 x 7 x 4");
    CHECK(got(halves, x) ==
          weights + "float, as the input, got half: for weights of another type add the option Weights<half>");
    auto const image = fk::random<float>(device, fk::nchw(1, 3, 7, 4));
    CHECK(got(image, x) == weights + "3 x 7 x 4 (B x N x K), got 1 x 3 x 7 x 4");

    fk::int8 const byte[1] = {};
    fk::TensorView<fk::int8 const, 3> const many(byte, {{{2, 1, 131072}}, {{0, 0, 0}}});
    CHECK(got(many, many) == weights + "at most 131071 products an output, whose sum fits 32 bits, got 131072");
}

TEST_CASE("a BatchedGemm that is evaluated has the weights of each matrix") {
    static constexpr auto x = fk::literal<fk::row_major(2, 1, 2)>(1, 2, 3, 4);
    static constexpr auto w = fk::literal<fk::row_major(2, 2, 2)>(1, 10, 100, 1000, 1, 0, 0, -1);
    STATIC_CHECK(fk::Plan<fk::BatchedGemm>::evaluate(x, {.weights = w}) ==
                 fk::literal<fk::row_major(2, 1, 2)>(21, 2100, 3, -4));
    fk::host::Device device(1);
    auto const one = fk::random<float>(device, fk::row_major(2, 3, 4)),
               many = fk::random<float>(device, fk::row_major(2, 5, 4));
    auto const about = fk::describe(fk::Plan<fk::BatchedGemm>::bind({.weights = many}), one);
    CHECK(about.flops() == 2.0 * 2 * 3 * 5 * 4);
    CHECK(about.fused_bytes() == 4.0 * (2 * 3 * 4 + 2 * 5 * 4 + 2 * 3 * 5));
}
