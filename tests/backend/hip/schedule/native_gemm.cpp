// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/native_gemm.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/schedule/problems.hpp"

namespace fk = fusekit;
using namespace fk::hip;
using test::problem, test::time_of;

namespace {

using Conv = fk::Conv<fk::filter(3, 3)>;
using Tile = NativeGemm<128, 64, 3, 16>;

static_assert(NativeGemmEntry::describes<Tile> && !NativeGemmEntry::describes<Gemm<128, 64, 16>>);
static_assert(test::compiles<NativeGemmEntry, Tile, fk::half, fk::Activation<fk::Relu>, Conv, fk::Bias>());
static_assert(!NativeGemmEntry::splits<Tile, float, traits_of<fk::Plan<Conv>, float>()>);

}  // namespace

TEST_CASE("HIP: NativeGemm implements every problem, and has its tile's numbers") {
    ConvCase of = problem(2, 3, 7, 5, 3);
    of.in_bulk = of.channels_last = of.on_matrix_units = false;
    CHECK_FALSE(NativeGemmEntry::can_implement<Tile, fk::half, fk::half>(of));
    constexpr ScheduleFacts facts = numbers_of<NativeGemmEntry, Tile>();
    CHECK((facts.m == 128 && facts.n == 64 && facts.k == 16 && facts.blocks == 3));
    CHECK(std::string(NativeGemmEntry::written(facts).c_str()) == "NativeGemm<128, 64, 3, 16>");
}

TEST_CASE("HIP: NativeGemm's time grows with the problem, and yields to MatrixGemm on sm_90a") {
    auto const elsewhere = [](ConvCase& of) { of.on_matrix_units = false; };
    CHECK(test::grows<NativeGemmEntry, Tile>(64, 56, 64, 3, elsewhere));
    ConvCase of = problem(8, 64, 56, 64, 3);
    CHECK_FALSE(time_of<NativeGemmEntry, Tile>(of).is_finite());
    of.type = fk::DataType::int8;
    CHECK(time_of<NativeGemmEntry, Tile>(of).is_finite());
    of.type = fk::DataType::float16, of.product.groups = 32, of.product.n = 8;
    CHECK_FALSE(time_of<NativeGemmEntry, Tile>(of).is_finite());
    of.on_matrix_units = false;
    CHECK(time_of<NativeGemmEntry, Tile>(of).is_finite());
}

TEST_CASE("HIP: NativeGemm multiplies at the rate of the unit that an architecture has for a type") {
    GpuRates const ampere = rates_of(Architecture::sm(80)), older = rates_of(Architecture::sm(75));
    auto const products = detail::native_products;
    CHECK(products(fk::DataType::float16, ampere) == ampere.half_products);
    CHECK(products(fk::DataType::int8, ampere) == ampere.int8_products);
    CHECK(products(fk::DataType::float32, ampere) == ampere.products);
    CHECK(products(fk::DataType::float8_e4m3, ampere) == ampere.products);
    CHECK(products(fk::DataType::float16, older) == older.products);
}
