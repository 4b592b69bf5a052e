// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/reduction.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/backend/hip/schedule/elementwise.hpp"

namespace fk = fusekit;
using namespace fk::hip;

namespace {

using Training = fk::BatchNormTraining<fk::Spatial>;

static_assert(ReductionEntry::describes<Reduction<>> && !ReductionEntry::describes<Elementwise<>>);
static_assert(ReductionEntry::runs<fk::Plan<Training>> &&
              ReductionEntry::runs<fk::Plan<Training, fk::Activation<fk::Relu>>>);
static_assert(!ReductionEntry::runs<fk::Plan<fk::Bias>> && !ReductionEntry::runs<fk::Plan<fk::Gemm>>);
static_assert(test::compiles<ReductionEntry, Reduction<>, float, Training>());
static_assert(test::compiles<ReductionEntry, Reduction<64, 4, 2>, fk::half, Training>());
static_assert(!ReductionEntry::splits<Reduction<>, float, traits_of<fk::Plan<Training>, float>()>);

}  // namespace

TEST_CASE("HIP: a Reduction of fewer threads has more CTAs per SM") {
    CHECK((Reduction<>::blocks == 2 && Reduction<128>::blocks == 4 && Reduction<512>::blocks == 1));
    constexpr PlanTraits plan = traits_of<fk::Plan<Training>, float>();
    CHECK(plan.total_bytes > 0);  // the totals of a thread for one channel
    CHECK(256 * 4 * plan.total_bytes < 48 * 1024);
}
