// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/elementwise.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/backend/hip/schedule/reduction.hpp"

namespace fk = fusekit;
using namespace fk::hip;

namespace {

using Relu = fk::Activation<fk::Relu>;

static_assert(ElementwiseEntry::describes<Elementwise<>> && !ElementwiseEntry::describes<Reduction<>>);
static_assert(ElementwiseEntry::runs<fk::Plan<fk::Bias, Relu>> && ElementwiseEntry::runs<fk::Plan<fk::Residual>>);
static_assert(!ElementwiseEntry::runs<fk::Plan<fk::Conv<fk::filter(1, 1)>, Relu>>);
static_assert(!ElementwiseEntry::runs<fk::Plan<fk::BatchNormTraining<fk::Spatial>>>);
static_assert(test::compiles<ElementwiseEntry, Elementwise<>, float, fk::Bias, Relu>());
static_assert(test::compiles<ElementwiseEntry, Elementwise<64, 4, 1, 1>, fk::int8, Relu>());
static_assert(!ElementwiseEntry::splits<Elementwise<>, float, traits_of<fk::Plan<Relu>, float>()>);

}  // namespace

TEST_CASE("HIP: Elementwise's CTAs fill the SMs whatever their number of threads") {
    CHECK(Elementwise<256>::blocks * 256 == 1280);
    CHECK(Elementwise<64>::blocks * 64 == 1280);
    CHECK(Elementwise<256, 16, 2>::tile_iterations == 2);
    CHECK(Elementwise<256, 16, 2, 4, 5, 7>::tile_iterations == 7);
}
