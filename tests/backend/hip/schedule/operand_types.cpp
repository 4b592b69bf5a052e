// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/operand_types.hpp"

#include <catch2/catch_test_macros.hpp>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;
using namespace fk::hip;

namespace {

using Conv = fk::Plan<fk::Conv<fk::filter(3, 3)>>;
using Tf32 = fk::Plan<fk::Conv<fk::filter(3, 3), fk::Products<fk::tf32>>>;
using Float = fk::Plan<fk::Conv<fk::filter(3, 3), fk::Products<float>>>;
using Gemm = fk::Plan<fk::Gemm, fk::Bias>;
using Transposed = fk::Plan<fk::TransposedConv<fk::filter(3, 3)>>;

static_assert(detail::is_16_bits<fk::half> && detail::is_16_bits<fk::bfloat16>);
static_assert(!detail::is_16_bits<float> && !detail::is_16_bits<fk::int8> && !detail::is_16_bits<fk::e4m3>);

static_assert(multiplies_floats<Conv, float> && !multiplies_floats<Conv, fk::half>);
static_assert(!multiplies_floats<fk::Plan<fk::Conv<fk::filter(3, 3), fk::Weights<fk::int8>>>, float>);

// A requested format replaces float alone.
static_assert(std::is_same_v<FloatFactor<Tf32>, fk::tf32> && std::is_same_v<FloatFactor<Conv>, void>);
static_assert(std::is_same_v<PlanFactor<Tf32, float>, fk::tf32> &&
              std::is_same_v<PlanFactor<Tf32, fk::half>, fk::half>);
static_assert(std::is_same_v<PlanFactor<Conv, float>, float> && std::is_same_v<PlanFactor<Float, float>, float>);

// Tensor cores of 16 bits multiply operands of one type.
constexpr bool has_code = arch::is_targeted<arch::Sm90a>;
static_assert(has_matrix_units<Conv, fk::half> == has_code && has_matrix_units<Gemm, fk::bfloat16> == has_code);
static_assert(!has_matrix_units<Conv, float> && !has_matrix_units<Conv, fk::int8>);
static_assert(!has_matrix_units<fk::Plan<fk::Conv<fk::filter(3, 3), fk::Weights<fk::int8>>>, fk::half>);

static_assert(has_transposed_conv<Transposed> && !has_transposed_conv<Conv> && !has_transposed_conv<Gemm>);

}  // namespace

TEST_CASE("HIP: types of operands and products follow from a plan") { SUCCEED("the assertions above hold"); }
