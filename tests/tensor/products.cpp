// SPDX-License-Identifier: MIT
#include "fusekit/tensor/products.hpp"

#include <catch2/catch_test_macros.hpp>

#include "fusekit/fusekit.hpp"
#include "support/float_products.hpp"

namespace fk = fusekit;

TEST_CASE("the host multiplies floats exactly, whatever Products allows") {
    fk::host::Device device(1);
    test::check_float_products<void>(device, false);
    test::check_float_products<float>(device, false);
    test::check_float_products<fk::bfloat16x3>(device, false);
    test::check_float_products<fk::tf32>(device, false);
}

TEST_CASE("a plan's name says how it multiplies floats") {
    CHECK(fk::type_name<fk::Conv<fk::filter(3, 3), fk::Products<fk::tf32>>>() == "Conv<filter(3, 3), Products<tf32>>");
    CHECK(fk::type_name<fk::TransposedConv<fk::filter(2), fk::Products<fk::bfloat16x3>>>() ==
          "TransposedConv<filter(2), Products<bfloat16x3>>");
    CHECK(fk::type_name<fk::GemmWith<fk::Products<float>>>() == "GemmWith<Products<float>>");
}
