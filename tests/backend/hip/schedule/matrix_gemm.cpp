// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/matrix_gemm.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/schedule/problems.hpp"

namespace fk = fusekit;
using namespace fk::hip;
using test::problem, test::time_of;

namespace {

using Conv = fk::Conv<fk::filter(3, 3)>;
using Relu = fk::Activation<fk::Relu>;
using Tile = MatrixGemm<128, 64>;

template <class T, class... Ops>
constexpr PlanConditions of = test::conditions<MatrixGemmEntry, T, Ops...>;

static_assert(of<fk::half, Relu, Conv, fk::Bias>.met() && of<float, Conv, fk::ChannelStatistics>.met());
static_assert(!of<fk::int8, Conv>.factors && !of<fk::half, fk::Conv<fk::filter(1, 1), fk::Weights<fk::int8>>>.factors);
static_assert(!of<float, fk::Conv<fk::filter(1, 1), fk::Products<float>>>.products);
static_assert(of<float, fk::Conv<fk::filter(1, 1), fk::Products<fk::tf32>>>.met());
static_assert(test::compiles<MatrixGemmEntry, MatrixGemm<256, 128, 1>, fk::bfloat16, Conv>());
static_assert(test::compiles<MatrixGemmEntry, MatrixGemm<128, 128, 1>, float, Conv>());
static_assert(MatrixGemmEntry::has_kernel<fk::Plan<Conv>, fk::half> &&
              !MatrixGemmEntry::has_kernel<fk::Plan<Conv>, fk::int8>);

}  // namespace

TEST_CASE("HIP: MatrixGemm implements every problem, and has its tile's numbers") {
    ConvCase any = problem(2, 3, 7, 5, 3);
    any.in_bulk = any.channels_last = false;
    CHECK_FALSE(MatrixGemmEntry::can_implement<Tile, fk::half, fk::half>(any));
    constexpr ScheduleFacts facts = numbers_of<MatrixGemmEntry, Tile>();
    CHECK((facts.m == 128 && facts.n == 64 && facts.k == 64 && facts.blocks == 2));
    CHECK(std::string(MatrixGemmEntry::written(facts).c_str()) == "MatrixGemm<128, 64, 2>");
}

TEST_CASE("HIP: MatrixGemm's time grows with the problem, and is infinite for few channels of floats") {
    CHECK(test::grows<MatrixGemmEntry, Tile>(64, 56, 64, 3));
    ConvCase few = problem(8, 64, 56, 8, 3);
    CHECK(time_of<MatrixGemmEntry, Tile>(few).is_finite());
    few.product.groups = 8;
    CHECK(time_of<MatrixGemmEntry, Tile>(few).is_finite());
    few.product.groups = 1, few.type = fk::DataType::float32, few.terms = 6;
    CHECK_FALSE(time_of<MatrixGemmEntry, Tile>(few).is_finite());
    ConvCase floats = problem(8, 64, 56, 64, 3);
    double const half = time_of<MatrixGemmEntry, Tile>(floats).seconds;
    floats.type = fk::DataType::float32, floats.terms = 6;
    CHECK(time_of<MatrixGemmEntry, Tile>(floats).seconds > 1.2 * half);
}
